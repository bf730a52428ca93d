"""More commands of every day, as they were thought of."""

MORE = r"""
$(which node) script.js
cat .git/config
cat .git/HEAD
ls .git/hooks
cat .github/workflows/ci.yml | grep -n "git push"
git log --all --oneline -- '*.py' | head
git log --author="$(git config user.name)" -5
git diff HEAD~1 HEAD --stat | tail -1
git --no-optional-locks status --porcelain=v2
git status --porcelain | awk '{print $2}' | xargs -r ls -l
git rev-parse --is-inside-work-tree >/dev/null 2>&1 && echo yes
git branch --format='%(refname:short)'
git branch -a --contains HEAD
git tag -n
git tag --points-at HEAD
git tag -l --sort=-v:refname | head -1
git remote show origin
git stash list --oneline
git config --get-regexp '^user\.'
git config -l --show-origin
git ls-files -m
git ls-files -s | head
git log -1 --format=%H -- path/with\ space
git show --stat HEAD~2
git show "HEAD:./x"
git cat-file -t HEAD
git diff --no-index a b
git diff -U0 | grep '^+'
git add -N . && git diff
git add -u
git add --all -- ':!secrets'
git add "path with space.txt"
git commit -m "$(printf 'a\n\nb')"
git commit -m 'fix: handle `git push` errors'
git commit --message="feat: add rm -rf / guard"
git commit -q -m x
git commit -a -m "x" --trailer "Co-authored-by: a <b>"
git commit --only src/a.py -m x
git commit --dry-run
git commit -m "wip" --no-gpg-sign
git commit --no-edit
git commit --signoff -m x
git commit -sm "x"
git commit -m"-n"
git commit -mn
git commit -C HEAD
git commit -t template
npm run git-push
npm run deploy -- --dry-run
yarn run "git:push"
make git-push
./scripts/git-push.sh
./push.sh
bash ./scripts/deploy.sh --force
python manage.py migrate
python -m http.server 8000 &
python -m json.tool < x.json
python -m unittest discover
python3 -m compileall src
PYTHONPATH=src python -c 'import x; print(x.__version__)'
pip --version
pip list --outdated
pip install -e .
poetry install
docker run -v "$PWD":/w -w /w img sh -c 'git push'
docker run --rm -it alpine rm -rf /
docker compose run --rm web bash -c "rm -rf /app/tmp"
kubectl exec pod -- rm -rf /tmp/x
vagrant ssh -c ls
rsync -a --delete src/ build/
rsync -avz dist/ user@host:/srv/
ssh-keyscan github.com >> ~/.ssh/known_hosts
cat ~/.ssh/config
ls -la ~/.aws
test -f ~/.aws/credentials && echo ok
[ -e "$HOME/.npmrc" ]
echo "$HOME/.ssh/id_rsa"
export AWS_SHARED_CREDENTIALS_FILE=~/.aws/credentials
stat ~/.netrc
grep -rn "\.ssh/id_rsa" .
grep -n 'id_rsa' docs/*.md
rg '~/.aws/credentials'
sed -n '/etc\/shadow/p' x
echo "cat /etc/shadow"
cat /etc/passwd
cat /etc/os-release
cat /proc/cpuinfo
ls /
du -sh /tmp/*
find / -name 'libfoo.so' 2>/dev/null
find /usr -name '*.h' -exec grep -l foo {} +
find . -name '*.orig' -print -delete
find build -type f -delete
find . -empty -type d -delete
find /tmp/x -delete
find "$TMPDIR" -name 'x*' -delete
rm -rf "$BUILD_DIR"
rm -rf "${BUILD_DIR:?}"/*
rm -rf "${TMPDIR:-/tmp}/x"
rm -rf $(find . -name '*.pyc')
rm -rf -- "$1"
rm -rf build/{a,b}
rm -rf ./build/../dist
rm -rf src/__pycache__/ tests/**/__pycache__
rm -rf .next .nuxt .cache .turbo
rm -f .git/index.lock
rm -r tmp/
rm -rfv coverage htmlcov .coverage
rm -rf "$(mktemp -d)"
BUILD=out; rm -rf "$BUILD"; mkdir -p "$BUILD"
OUT=dist && rm -rf "$OUT"/* && cp -r x "$OUT"
DIR="$(cd "$(dirname "$0")" && pwd)"; ls "$DIR"
SCRIPT_DIR=$(dirname "${BASH_SOURCE[0]}"); echo $SCRIPT_DIR
cd "$(mktemp -d)" && rm -rf * && ls
cd /tmp/work && rm -rf old
cd ../sibling && ls
pushd web >/dev/null && npm ci; popd >/dev/null
chmod -R +x scripts bin
chmod 600 ~/.ssh/config
chown -R "$(id -u):$(id -g)" .
mv build build.old && mv build.old /tmp/x
mv src/* lib/
cp /dev/null x
echo > /dev/tty
exec 2> /dev/stderr
dd if=/dev/sda of=x bs=512 count=1
tee /dev/null < x
tee /dev/stderr <<< x
truncate -s 0 log.txt
shred -u secret.txt
kill -1 $(cat pid)
kill -HUP 123
kill -s TERM -- -123
kill -9 -12345
kill -0 $PID
kill $!
jobs -p | xargs -r kill
trap 'kill $(jobs -p)' EXIT
trap 'rm -rf "$TMP"' EXIT INT
trap cleanup EXIT; cleanup() { rm -f x; }
systemctl status nginx
systemctl restart x
sudo systemctl daemon-reload
init_db() { sqlite3 x.db < schema.sql; }; init_db
halt_on_error=1 make
reboot_test=1; echo $reboot_test
./gradlew shutdown
npm run shutdown
parallel -j4 gzip ::: *.txt
parallel 'echo {}' ::: a b
seq 5 | parallel echo
seq 1 3 | xargs -n1 -P3 sh -c 'echo "$0"'
find . -name '*.js' -print0 | xargs -0 -n1 node --check
find . -name '*.sh' -exec bash -n {} \;
find . -name '*.sh' -exec sh -c 'bash -n "$1"' _ {} \;
xargs -a files.txt -d '\n' rm -f
ls *.py | xargs -I{} python {}
ls | xargs -I{} mv {} {}.bak
while IFS=, read -r a b; do printf '%s=%s\n' "$a" "$b"; done < x.csv
while true; do make && break; sleep 5; done
while ! nc -z localhost 5432; do sleep 1; done
until pg_isready; do sleep 1; done
timeout 30 bash -c 'until curl -sf localhost; do sleep 1; done'
timeout 30 bash -c 'while ! nc -z localhost 80; do sleep 1; done'
bash -c 'for i in 1 2 3; do echo $i; done'
bash -c 'echo "$@"' _ git push
sh -c 'test -n "$X"'
env -u VIRTUAL_ENV make
env NODE_ENV=test npm test
NODE_OPTIONS="--max-old-space-size=4096" npm run build
time (make -j4 2>&1 | tail -3)
{ time make; } 2> time.txt
(set -x; make)
set -o pipefail; make | tee log
set +e; make; rc=$?; set -e; exit $rc
[[ "${PIPESTATUS[0]}" -eq 0 ]]
exit 0
return 1 2>/dev/null || exit 1
ulimit -n 4096 && make
umask 022
wait
wait $pid; echo "rc=$?"
cmd & pid=$!; sleep 1; kill $pid
(sleep 1; echo x) &
coproc cat; echo hi >&"${COPROC[1]}"
exec 5<>/dev/tcp/localhost/80
printf '%s\n' {a..c}{1..3}
echo {1..3} {a,b}.txt
mkdir -p src/{a,b}/{c,d}
touch {1..100}.txt
cp file{,.bak}
diff file{,.orig}
arr=($(ls)); echo ${#arr[@]}
IFS=: read -ra p <<< "$PATH"; printf '%s\n' "${p[@]}"
IFS=$'\n' ; for l in $(cat x); do echo "$l"; done
declare -a files=(*.py); for f in "${files[@]}"; do wc -l "$f"; done
readonly X=1
local_var=1
x=$((x+1)); ((x++)); let x+=1
echo $(( (1+2) * 3 ))
if (( x > 3 )); then echo big; fi
[ "$x" -gt 3 ] && echo big || echo small
case "$OSTYPE" in linux*) echo l;; darwin*) echo d;; esac
case $x in [0-9]*) echo n;; "") echo e;; esac
function usage { echo "usage: $0 [-n]"; exit 1; }; [ $# -gt 0 ] || usage
die() { echo "$*" >&2; exit 1; }; [ -f x ] || die "no x"
test_it() { local out; out=$("$@" 2>&1) || { echo "$out"; return 1; }; }; test_it make check
again() { local n=0; until "$@"; do n=$((n+1)); [ $n -ge 3 ] && return 1; done; }; again npm ci
main() { build; check; }; build() { make; }; check() { make check; }; main "$@"
cat x | python3 -c 'import sys, json; print(json.load(sys.stdin)["a"])'
curl -s x | python3 -m json.tool
curl -s x | tar xz
curl -fsSL https://x/install.sh -o install.sh
echo '{"a": "$(git push)"}' | jq .
echo "\$(git push)"
echo "\`git push\`"
echo '$(rm -rf /)' '`rm -rf /`'
printf '%s\n' '#!/bin/sh' 'git push' > x.sh && chmod +x x.sh
cat >> .gitconfig <<< '[alias] p = push'
perl -e 'system("git push")'
awk 'BEGIN { system("git push") }'
ruby -e '`git push`'
node -e 'require("child_process").execSync("git push")'
vim -es -c '%s/a/b/' -c wq x
ed -s x <<< $'1d\nw'
sqlite3 x "DELETE FROM t"
mysql -e 'DROP DATABASE x'
terraform destroy -auto-approve
aws s3 rm s3://x --recursive
gh pr create --title "git push" --body "rm -rf /"
gh pr checkout 12
hub sync
svn commit -m x
hg push
jj git push
brew upgrade git
apt remove git
man rm
help git
info git push
tldr git push
which -a git pip python
whereis git
type -a git
command -V pip
dpkg -S "$(which git)"
ldd $(which git)
file "$(command -v node)"
echo $(git rev-parse --short HEAD)
VERSION=$(git describe --tags); echo "$VERSION"
BRANCH=$(git branch --show-current) && echo "$BRANCH"
FILES=$(git diff --name-only); [ -n "$FILES" ] && npx prettier --check $FILES
git log --format='%an' | sort | uniq -c | sort -rn
git log --since="2 weeks ago" --until=yesterday
git blame -w -C x | head
git shortlog -s -n --all --no-merges
git grep -n "rm -rf" -- '*.sh'
git grep -e push --and -e git
git diff --word-diff=color main -- docs
git difftool --help
git rev-list --left-right --count main...HEAD
tmux ls
tmux kill-server
screen -ls
nohup sh -c 'sleep 1; echo x' >/dev/null 2>&1 &
sudo -n true
sudo -u postgres psql -c 'select 1'
su - postgres -c 'psql -l'
at -l
watch -n1 'ls | wc -l'
strace -e trace=file ls
perf stat -e cycles ./a.out
gdb -batch -ex run ./a.out
valgrind --leak-check=full ./a.out
screen -r work
tmux new-session -d -s git -c /w/proj
script -q /dev/null npm test
flock -u 9
hyperfine --warmup 3 "grep -r 'git push' ."
nodemon --exec 'npm test' -e ts
gdb --args ./a.out x
nix develop -c make test
dotenv -e .env -- npm test
git.exe status
echo "it's fine" | xargs echo
exec 3< x; read -r l <&3; echo "$l"
bash -c 'cat' <<< 'git push'
ssh host 'cat > x' <<< 'git push'
PS1='$(git branch --show-current) $ '; ls
if true; then { make; } fi
rm -rf .gitlab-ci .github .p*
find . -name .git -prune -o -name '*.pyc' -exec rm {} +
find vendor -name .git -exec rm -rf {} +
find . -xtype l -delete
rsync -a --delete dist/ host:/srv/x/
sed -e 's,/etc/shadow,x,' -e 's:/home/me/.ssh:y:' f
rm -f "$(git rev-parse --git-dir)/index.lock"
rm -rf "$(git rev-parse --show-toplevel)/build"
sem -j4 'make x'; sem --wait
"""
