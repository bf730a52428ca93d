"""What git may not do, in plain words."""

GIT = r"""
git push
git push origin main
git push --force
git pull
git pull --rebase
git fetch
git fetch --all
git merge main
git rebase -i HEAD~3
git reset --hard
git reset HEAD~1
git reset
git checkout main
git checkout -- .
git checkout -b new
git switch main
git switch -c x
git restore .
git stash
git stash pop
git stash drop
git stash -u
git tag v1
git tag -a v1 -m x
git tag -d v1
git branch new
git branch -D old
git branch -d old
git branch -m a b
git branch -f main HEAD~1
git branch -v new
git branch --set-upstream-to=origin/main
git branch -u origin/main
git branch --edit-description
git cherry-pick abc
git revert HEAD
git clean -fdx
git am x.patch
git config user.name x
git config --global user.email a@b
git config --unset user.name
git config set user.name x
git config --add a.b c
git remote add o url
git remote remove origin
git remote set-url origin x
git submodule update --init
git submodule add url
git worktree add ../x
git worktree remove x
git update-ref refs/heads/main abc
git commit-tree abc
git update-index --assume-unchanged x
git symbolic-ref HEAD refs/heads/x
git filter-branch --all
git filter-repo --path x
git reflog expire --all
git reflog delete HEAD@{1}
git gc --prune=now
git prune
git repack -ad
git notes add -m x
git replace a b
git bisect start
git bisect run make test
git init
git init /tmp/x
git clone url
git bundle create x HEAD
git hash-object -w f
git fast-import
git read-tree HEAD
git write-tree
git mktree
git send-email x
git svn dcommit
git lfs push
git sparse-checkout set a
git maintenance run
git frobnicate
git ci -m x
git commit --amend
git commit --amend --no-edit
git commit --am -m x
git commit -a --amend -m x
git commit -n -m x
git commit -nm x
git commit -anm x
git commit --no-verify -m x
git commit --no-verif -m x
git -c core.hooksPath=/dev/null commit -m x
git -C x push
git -C /a -C b push
git --git-dir=.git push
git --git-dir .git --work-tree . push
git --no-pager push
git -p push
git -c a.b=c push
git -c user.name=x -c user.email=y push
git -c alias.x=push x
git -c alias.x='!git push' x
git -c alias.x='!rm -rf /' x
git -c core.pager='git push' log
git -c core.editor='git push' commit
git -c core.sshCommand='git push' ls-remote
git -c core.fsmonitor='git push' status
git -c diff.external='git push' diff
git -c credential.helper='!git push' ls-remote
git grep -O'git push' x
git ls-remote --upload-pack='git push' x
git submodule foreach 'git push'
git submodule foreach --recursive git push
GIT_DIR=/x git push
GIT_PAGER='git push' git log
GIT_EXTERNAL_DIFF='git push' git diff
GIT_SSH_COMMAND='git push' git ls-remote
export GIT_PAGER='git push'; git log
env GIT_DIR=x git push
env -u A git push
env -i git push
env - git push
env -S 'git push'
env -C x git push
"""
