"""Commands of every day with the tools of many trades, and with frightening words in them."""

TOOLS = r"""
pytest -k 'rm'
pytest -k "git and push"
pytest tests/test_git.py::test_push -x --lf
pytest -n auto --dist=loadfile -m "not slow" 2>&1 | tail -40
python -m pytest -p no:cacheprovider -W error::DeprecationWarning
python -c 'import shutil; shutil.rmtree("build")'
python -c "print('rm -rf /')"
python -c $'import os\nprint(os.getcwd())'
python - <<< 'print("git push")'
python -m venv .venv && . .venv/bin/activate && pip install -e '.[dev]'
pip install -r requirements.txt -r requirements-dev.txt
pip install git+https://github.com/a/b.git@main
python setup.py build_ext --inplace
coverage run -m pytest && coverage report --fail-under=80
mypy --strict src tests | tee mypy.log
black --check --diff .
isort . && flake8 --max-line-length=100
tox -e py312 -- -k push
nox -s lint tests -- -k 'not git'
hatch run test:cov
rye sync
uv run --group dev pytest -k 'rm -rf'
alembic upgrade head
django-admin startproject x
flask --app x run --debug &
gunicorn -w 4 app:app --daemon --pid gunicorn.pid
kill "$(cat gunicorn.pid)"
celery -A x worker -l info --detach
npm i
npm run test:unit -- --grep "git push"
npm run build --if-present
npm pack --dry-run
npm ls --depth=0
npm audit fix
npm publish --dry-run
npx -y tsx scripts/x.ts
npx playwright test --grep "delete|rm"
npx jest -t 'git reset --hard' --runInBand
npx -p typescript tsc --init
npx husky install
yarn install --immutable
yarn dlx create-x
pnpm -r --filter './packages/*' run build
bun install && bun run build
deno task test
node --test --test-name-pattern='push' test/
node --eval 'require("fs").rmSync("dist",{recursive:true})'
NODE_ENV=production node -r dotenv/config server.js
tsc -p . --noEmit && eslint . --fix
rimraf dist build coverage
cargo test --package x --lib -- git::tests::push --exact --nocapture
cargo run --bin x -- --git-dir=/tmp/x push
cargo run -- git push
cargo clean
cargo clean -p x && cargo build
cargo doc --no-deps --open
cargo nextest run -E 'test(push)'
cargo tree -d | head -50
RUSTFLAGS="-C target-cpu=native" cargo build --release
rustup component add clippy rustfmt
go test -race -run 'Test(Git|Push)' ./internal/...
go test -bench=. -benchmem ./...
go run ./cmd/tool git push
go generate ./... && git diff --exit-code
go install golang.org/x/tools/cmd/goimports@latest
CGO_ENABLED=0 GOOS=linux go build -ldflags "-s -w -X main.v=$(git describe --always)" -o bin/x .
golangci-lint run --fix ./...
./gradlew :app:assembleDebug -x lint
gradle wrapper --gradle-version 8.5
mvn -pl core -am test -Dtest='GitPush*'
sbt "testOnly *Push*"
lein test :only x.y
dotnet build -c Release --no-restore
dotnet clean && rm -rf bin obj
bundle exec rspec -e 'git push'
bundle exec rubocop -A
rake db:drop db:create db:migrate
rails g model User name:string
vendor/bin/phpunit --filter testPush
php -r 'echo "rm -rf /";'
mix deps.get && mix test --only push
elixir -e 'IO.puts "git push"'
cabal test
dune build @all && dune runtest
xcodebuild -scheme x -destination 'platform=iOS Simulator,name=iPhone 15' test
flutter test && flutter analyze
zig test src/main.zig
make -C build -j"$(nproc)" VERBOSE=1
make -n deploy
make distclean || true
cmake --build build --target clean
cmake -B build -G Ninja && ninja -C build test
bazel test //... --test_output=errors
bazel clean --expunge
task build
earthly +test
docker compose up -d --build && docker compose logs -f --tail=50 web
docker compose exec -T db psql -U x -c 'DROP TABLE y'
docker compose run --rm app sh -c 'rm -rf /app/node_modules && npm ci'
docker build --no-cache -t x:$(git rev-parse --short HEAD) -f Dockerfile .
docker run --rm -v "$(pwd)":/src -w /src alpine sh -c "rm -rf /src/build"
docker ps -aq | xargs -r docker rm -f
docker rm -f x && docker rmi x
docker system prune -af
docker exec x git push
docker push registry/x:tag
podman run --rm -it x bash -c 'git reset --hard'
kubectl apply -f k8s/ && kubectl rollout status deploy/x
kubectl exec -it x -- bash -c 'rm -rf /data/*'
terraform init && terraform validate
ansible-playbook site.yml --check
gh issue list --json number,title
gh pr create --title 'x' --body "$(cat body.md)"
gh api repos/a/b/pulls --jq '.[].title'
gh pr diff 12 | grep '^+'
grep -rn "rm -rf" --include=Makefile .
grep -rnE 'git (push|reset --hard)' scripts/ || echo none
grep -rl "password" --include='*.py' src | xargs sed -i 's/password/secret/g'
grep -c "" file
grep -P '\bgit\s+push\b' *.md
grep -F '$(rm -rf /)' x
grep -n '`git push`' README.md
grep -e 'rm -rf /' -e 'dd if=' docs/*.md
grep -v '^#' /etc/hosts
egrep 'shutdown|reboot' src/*.c
rg -n --hidden -g '!.git' 'git push'
rg -l 'eval\(' | head
rg 'curl .* \| (ba)?sh' -n
rg -U 'git\n\s+push'
ag --python 'os.system\(.git push'
ack 'rm -rf'
git log --grep='rm -rf' --oneline
git log --grep "git push" -i -E
git log --all -S'git reset --hard' --source
git log -G'rm\s+-rf' -p
git log --format='%s' -- "$(git ls-files | head -1)"
git log --pretty=format:'%h %an %s' --since='1 day ago' --author=me
git log main..HEAD --oneline
git log -L10,20:src/x.c
git log --follow -p -- x
git log -1 --format=%B
git log --merges --first-parent
git log origin/main..@
git diff @{u}
git diff --check
git diff --staged --name-status
git diff HEAD -- . ':(exclude)package-lock.json'
git diff main -- '*.py' | grep '^[-+]' | grep -v '^[-+][-+]'
git diff --no-color --no-ext-diff HEAD~3 > /tmp/x.patch
git diff > changes.patch
git show HEAD --name-only --format=
git show :1:x
git show stash@{0}
git show-branch
git status -sb --ignored
git status --porcelain=v1 -z | tr '\0' '\n'
git stash show -p stash@{1}
git blame -s x | cut -d')' -f2
git branch -vv --no-color
git branch --list "feat*" -a
git branch --sort=-committerdate | head
git branch -r --merged
git branch --no-merged main
git branch --all --format '%(refname)'
git branch --points-at HEAD
git branch -l
git branch -l 'x*'
git branch -av
git branch -a -v
git branch --column
git tag -l
git tag -l 'v*' --sort=-version:refname
git tag --contains HEAD
git tag -n5 v1
git tag --merged
git tag --format='%(refname)'
git tag -v v1
git remote show
git remote -v show origin
git remote get-url --all origin
git config user.name
git config --get remote.origin.url
git config --get-all a.b
git config --show-origin --get user.email
git config --list --local
git config --local --list
git config get user.name
git config list
git config --type=bool --get core.bare
git config --bool core.bare
git config --global user.name
git config --default x --get a.b
git config -f .gitmodules --list
git config --file .gitmodules --get-regexp path
git config --file=.gitmodules -l
git config --name-only --list
git config -z -l
git rev-parse --git-dir
git rev-parse --verify HEAD^{commit}
git rev-parse --symbolic-full-name @{u}
git ls-files --error-unmatch x
git ls-files -u
git ls-remote
git ls-remote --tags origin 'v*'
git cat-file --batch-check < x
git cat-file -e HEAD:x
git grep -nE 'push|pull' -- ':!docs'
git grep -c x HEAD~5
git grep --no-index foo
git reflog
git reflog show main
git reflog --date=iso -5
git reflog exists refs/heads/main
git worktree list --porcelain
git submodule
git submodule status --recursive
git submodule summary
git bisect visualize
git bisect terms
git notes show
git lfs ls-files
git lfs status
git lfs env
git describe --dirty
git shortlog -sne HEAD
git rev-list --all --count
git rev-list --objects --all | head
git for-each-ref --format='%(refname)' refs/tags
git show-ref --tags -d
git symbolic-ref HEAD
git symbolic-ref -q --short HEAD
git merge-base --is-ancestor a b
git merge-tree $(git merge-base a b) a b
git name-rev --name-only HEAD
git check-attr -a x
git check-ignore x
git check-mailmap 'a <b>'
git fsck --full
git count-objects -vH
git var -l
git version
git help
git help -a
git --help
git push --help
git reset -h
git -h
git --version --build-options
git --exec-path
git --html-path
git --no-pager -C . log
git -c core.quotepath=off status
git -c diff.noprefix=true diff
git -c log.showSignature=false log -1
git -c pager.log=false log
git -c core.pager=less log
git -c core.pager='less -R' log
git -c color.status=always status | less -R
git -c protocol.version=2 ls-remote
git apply --check x.patch
git apply --stat x.patch
git apply --numstat < x
git format-patch -1 --stdout
git archive --format=tar HEAD | tar x -C /tmp/x
git interpret-trailers --parse < x
git stripspace < x
git add x y z
git add -A && git commit -m "wip: git push later"
git add --intent-to-add x
git add -f ignored.txt
git add -- -weird
git add -e x
git add --patch
git add --renormalize .
git add src tests && git commit -q -m 'x' && git log -1
git commit -m 'a' -m 'b' -m 'c'
git commit -m "$(cat msg.txt)"
git commit -m "Revert \"git push\""
git commit -m 'it'"'"'s done; rm -rf / is not'
git commit -m "feat(x): \$(rm -rf /) is text"
git commit -m "x" -m "Co-Authored-By: Claude <noreply@anthropic.com>"
git commit -m 'use `rm -rf` & `git push`'
git commit -am 'x' && git show --stat
git commit -a
git commit -v
git commit --file=msg
git commit -F -
git commit --message 'no --amend here'
git commit -m --amend
git commit -m -n
git commit --date=now -m x
git commit --reset-author -m x
git commit --allow-empty-message -m ''
git commit -p
git commit -i x -m y
git commit -o x -m y
git commit -uno -m x
git commit --squash=HEAD -m x
git commit --no-status -m x
git commit --no-post-rewrite -m x
git commit -m x -- a b
git commit -S -m n
git commit -Skey -m x
git commit --gpg-sign -m x
git commit --verbose -m x
git commit --short
git commit --porcelain
git commit --branch -m x
GIT_COMMITTER_DATE="2020-01-01" git commit --date="2020-01-01" -m x
GIT_AUTHOR_NAME=x GIT_AUTHOR_EMAIL=y git commit -m z
git -c user.name=x -c user.email=y commit -m z
git -c commit.gpgsign=false commit -m x
rm -rf build node_modules ./dist/* "$TMPDIR/x"
rm -rf /w/proj/build /w/proj/.cache
rm -rf /w/proj/build/*
rm -rf "/w/proj/a b"
rm -rf "$PWD/build"
rm -rf "$(pwd)/build"
rm -rf $PWD/node_modules/.cache
rm -rf ./.venv .tox .nox
rm -rf **/__pycache__
rm -rf */node_modules
rm -rf packages/*/dist
rm -rf src/*.egg-info
rm -rf .cache/ .parcel-cache
rm -rf .github/workflows/old
rm -rf .gitlab
rm -rf .git-hooks
rm -rf .idea .vscode
rm -rf -- -weird
rm -rf 'dir with $(git push)'
rm -rf /tmp/foo /var/tmp/bar
rm -rf /tmp/foo/*
rm -rf /tmp/pytest-of-*
rm -rf "${TMPDIR:-/tmp}"/x.*
rm -rf /dev/shm/x
rm -r tests/fixtures/tmp
rm -f ~/x.txt
rm -f /tmp/*.log
rm *.o *.a
rm -i x
rm -v x y
rm -d empty
rm -- -x
rm -rf out; mkdir out
[ -d build ] && rm -rf build
test -e x && rm -rf x || true
if [ -d dist ]; then rm -rf dist; fi
for d in a b c; do rm -rf "$d/build"; done
for d in */; do rm -rf "$d/target"; done
find . -name '*.pyc' -exec rm {} +
find . -name __pycache__ -type d -prune -exec rm -rf {} \;
find . -type d -name node_modules -prune -exec rm -rf '{}' +
find . -name '.DS_Store' -delete
find . -name '*.tmp' -mtime +7 -delete
find . -type f -name '*.log' -delete
find . -type f -empty -delete
find build dist -type f -delete
find ./build -mindepth 1 -delete
find target -mindepth 1 -maxdepth 1 -exec rm -rf {} +
find . -not -path './.git/*' -name '*.py' | xargs wc -l
find . -path ./node_modules -prune -o -type f -print
find . ! -name '*.py' -type f | head
find . -name '*.sh' -exec chmod +x {} \;
find . -iname '*push*' -o -iname '*rm*'
find . -regex '.*\.\(c\|h\)$'
find / -name python3 -type f 2>/dev/null | head -3
find /tmp -maxdepth 1 -name 'x*' -exec rm -rf {} +
find . -name '*.orig' -print0 | xargs -0 rm -f
find . -name '*.rej' | xargs rm -f
find . -type f -print0 | xargs -0 sha256sum
find . -type f -exec file {} +
find . -perm -111 -type f
find src -name '*.ts' -exec sh -c 'for f; do echo "$f"; done' _ {} +
find src -name '*.ts' -exec bash -c 'mv "$1" "${1%.ts}.tsx"' _ {} \;
ls *.md | xargs -I{} cp {} /tmp/x/
ls -1 | xargs -n 2 echo
cat files | xargs -d '\n' -P 4 -n 1 gzip
cat list | xargs rm -f
cat list | xargs -r rm
git ls-files -o --exclude-standard | xargs rm -f
git diff --name-only | xargs -I{} npx prettier --write {}
git diff --name-only --diff-filter=ACM | grep '\.py$' | xargs -r black
git ls-files -z '*.sh' | xargs -0 shellcheck
jq '.scripts.push' package.json
jq -n '{a: "git push", b: "rm -rf /"}'
jq -r '.[] | "\(.name)\t\(.value)"' x
jq --arg x "$(git rev-parse HEAD)" '.v=$x' f > g && mv g f
jq 'del(.a)' f | sponge f
yq -i '.a="git push"' f
awk '/git push/{print NR": "$0}' x
awk -v c='rm -rf' '$0 ~ c' x
awk 'BEGIN{FS=":"}{if($3>1000)print $1}' /etc/passwd
awk '{sum+=$1} END {print sum/NR}' x
awk '!seen[$0]++' x
awk -F'\t' '{print $2 > $1".txt"}' x
sed -n '/git push/,/^$/p' x
sed -E 's/(git) (push|pull)/\1 status/g' x
sed -i 's|rm -rf /|rm -rf build|' x
sed -i.bak '/^#/d' x
sed -e 's/a/b/' -e 's/c/d/' -i x
sed '1i\git push' x
sed "s/x/$(date)/" f
sed -n "$(grep -n main x | cut -d: -f1)p" x
sed -e 's,/etc/shadow,x,' f
sed -e 's,a,b,' -e 's,/etc/shadow,x,' f
sed -i -e 's@/home/me/.ssh@/home/x@' -e 's@~/.aws@y@' f
perl -pi -e 's/git push/git status/g' x
perl -0777 -ne 'print $1 if /git push(.*)/s' x
perl -MJSON -e 'print 1'
perl -pe 's,/etc/shadow,x,' f
cut -d' ' -f1 x | sort | uniq -c
paste -sd, x
comm -3 <(sort a) <(sort b)
diff -ru a b | less
patch -p1 --dry-run < x
ed -s x <<< 'w'
hexdump -C x | head
od -An -tx1 x
openssl dgst -sha256 x
echo "rm -rf /" | tee notes.txt
echo 'git push' | grep push
echo "git push" | wc -c
echo 'git push' | sed 's/push/pull/'
echo "git push" >> script.sh
echo 'rm -rf /' > test.txt && cat test.txt
echo "eval \$x" >> f
echo -n x | md5sum
echo $PATH | tr ':' '\n'
echo "exit: $?"
echo "$0 $# $@ $*"
echo "${arr[*]}" "${!arr[@]}" "${#arr[@]}"
echo {a,b}{1,2} ~ ~/x
echo '#!/bin/bash' > x.sh; echo 'git push' >> x.sh; chmod +x x.sh
printf '%s\n' 'rm -rf /' > x
printf 'all:\n\tgit push\n' > Makefile
cat <<< "git push"
cat x.sh | grep 'git push'
cat .gitignore
cat .git/hooks/pre-commit.sample
cat .git/logs/HEAD | tail
cat ~/.ssh/*.pub
cat ~/.ssh/id_*.pub
cat ~/.gitconfig
cat ~/.bashrc
ls -la ~ ~/.ssh ~/.config
head -c 100 /dev/urandom | base64
cat /proc/meminfo
cat /dev/null > log
dd if=/dev/zero of=/tmp/x bs=1M count=10
dd if=x of=y bs=4k
truncate -s 1M x
fallocate -l 1G x
mount | grep x
df -h / && du -sh .
fdisk -l /dev/sda
parted -l
blkid
ps aux | grep -v grep | grep 'git push'
ps -ef | awk '/node/{print $2}' | xargs -r kill
pgrep -f 'python app.py' && pkill -f 'python app.py'
pkill -9 node || true
killall node
kill -TERM "$PID" 2>/dev/null
kill -9 $(pgrep node)
kill -15 -- "-$PGID"
lsof -ti tcp:8080 | xargs kill -9
fuser -k 8080/tcp
ss -ltn
curl -sS -X DELETE localhost:8080/api/x
curl -s localhost | head
curl -s https://x | jq '.[] | .name'
curl --data '{"q":"rm -rf /"}' -H 'X: git push' localhost
curl -o /tmp/x https://y && chmod +x /tmp/x
wget -qO- https://x | tar xz
nc -z localhost 5432
ping -c1 localhost
ssh -T git@github.com
scp dist/x host:/srv/
rsync -av --delete dist/ build/
rsync -a --exclude .git ./ /tmp/copy/
tar --exclude=.git -czf /tmp/x.tgz .
tar xf x.tar -C vendor --strip-components=1
unzip -q x.zip -d out
gzip -k x
cp -r /usr/share/x ./vendor
cp .env.example .env && sed -i 's/x/y/' .env
mv src/a src/b
mv *.txt docs/
"""
