"""Commands that coding agents run every day. None of them may be stopped, strict or not."""

from tests.core.policy.everyday_more import MORE
from tests.core.policy.everyday_tools import TOOLS

LINES = r"""
ls
ls -la
ls -la src/ tests/ | head -50
pwd
cd src && ls
cd src && make test
cd "$(git rev-parse --show-toplevel)" && ls
cat README.md
cat package.json | jq '.scripts'
cat .env.example
cat ~/.ssh/id_ed25519.pub
ls ~/.ssh
head -n 40 src/main.c
tail -f log.txt &
sed -n '1,120p' src/app.py
sed -i 's/git push/git commit/g' docs/notes.md
sed -i.bak -e 's#rm -rf /#rm -rf build#' Makefile
sed -i '' 's/foo/bar/' x.py
awk '{print $1}' data.txt | sort | uniq -c | sort -rn | head
awk -F: '/git push/ {print $2}' notes.txt
grep -rn "git push" .
grep -r "pip install" docs/
grep -rn 'rm -rf /' --include='*.sh' .
grep -E 'git (push|pull)' README.md
grep -n "/etc/shadow" src/auth.py
rg "git commit --amend" -n
rg -n 'subprocess.run\(\["git", "push"' src
ag 'rm -rf'
find . -name '*.py'
find . -name '*.pyc' -delete
find . -type d -name __pycache__ -exec rm -rf {} +
find . -name node_modules -prune -o -name '*.ts' -print
find src -name '*.c' | xargs wc -l
find . -name '*.go' -print0 | xargs -0 gofmt -l
find . \( -name '*.h' -o -name '*.c' \) -exec grep -l TODO {} \;
find . -type f -newer Makefile -exec ls -l {} \;
find /usr/include -name 'stdio.h'
git status
git status --short --branch
git diff
git diff HEAD~1 -- src/
git diff --stat main...HEAD
git diff --cached
git log --oneline -20
git log --grep="git push" --all
git log -p -S'rm -rf' -- scripts/
git log --format='%h %s' HEAD~3..HEAD^
git log --oneline --graph --all --decorate | head -30
git show HEAD
git show HEAD@{1} --stat
git show HEAD:src/main.py
git blame -L 10,20 src/main.py
git branch
git branch -a
git branch -vv
git branch --show-current
git branch --list 'feature/*'
git branch --contains abc123
git branch --merged main
git branch -r --sort=-committerdate
git tag
git tag -l 'v1.*'
git tag --list
git tag --sort=-creatordate
git stash list
git stash show -p
git remote -v
git remote
git remote get-url origin
git rev-parse HEAD
git rev-parse --abbrev-ref HEAD
git rev-list --count HEAD
git ls-files | grep test
git ls-files --others --exclude-standard
git ls-tree -r HEAD --name-only
git ls-remote --heads origin
git cat-file -p HEAD
git describe --tags --always
git shortlog -sn
git merge-base main HEAD
git grep -n "pip install"
git config --get user.name
git config user.email
git config --list
git config --global --get core.editor
git reflog -10
git worktree list
git submodule status
git check-ignore -v build/
git for-each-ref --sort=-committerdate refs/heads/
git help commit
git commit --help
git --version
git --no-pager diff
git --no-pager log -5
git -C vendor/lib status
git -C vendor/lib log -1
git -c color.ui=never diff
git -c core.pager=cat log -3
GIT_PAGER=cat git log -3
PAGER=cat git diff
git archive HEAD -o out.tar
git apply --check fix.patch
git var GIT_EDITOR
git count-objects -v
git fsck
git symbolic-ref --short HEAD
git name-rev HEAD
git range-diff main a b
git hash-object README.md
git cherry -v main
git whatchanged -3
git show-ref --heads
git notes list
git bisect log
git diff --name-only HEAD | xargs -r wc -l
echo "git commit"
echo git push
echo 'rm -rf /'
echo "run: pip install foo" >> README.md
echo "$(git log -1 --format=%s)"
echo "don't git push" # git push
echo hi # && git push
# git push origin main
: git push
printf 'git push\n' > deploy.sh
printf '%s\n' "pip install x" "git push" >> notes.txt
printf "%-20s %s\n" name value
true || echo "git reset --hard"
test -f Makefile && echo yes
[ -f package.json ] && cat package.json
[ -n "$CI" ] || echo local
[[ -d .git && -f Makefile ]] && echo ok
[[ "$x" == *"git push"* ]] && echo found
[[ $version =~ ^v([0-9]+)\.([0-9]+)$ ]] && echo "${BASH_REMATCH[1]}"
if [ -f x ]; then echo "git push"; else echo no; fi
if ! grep -q "git push" Makefile; then echo clean; fi
for f in *.py; do echo "$f"; done
for f in src/*.c; do gcc -c "$f" -o "${f%.c}.o"; done
for i in $(seq 1 5); do curl -s localhost:8080/health && break; sleep 1; done
for i in {1..10}; do echo $i; done
for ((i = 0; i < 10; i++)); do echo "$i"; done
while read -r line; do echo "$line"; done < list.txt
while IFS= read -r f; do wc -l "$f"; done < <(git ls-files '*.py')
until curl -sf localhost:3000; do sleep 1; done
case "$1" in push) echo "git push";; *) echo other;; esac
case $(uname) in Linux) make linux;; Darwin) make mac;; esac
select x in a b; do echo $x; break; done < /dev/null
(cd web && npm ci && npm run build)
{ make; make test; } 2>&1 | tee build.log
make
make -j8
make -j$(nproc) test
make clean all
make test 2>&1 | tail -50
make push
cmake -S . -B build -DCMAKE_BUILD_TYPE=Debug && cmake --build build -j
ninja -C build
npm install
npm ci
npm test
npm test -- --watchAll=false 2>&1 | tail -30
npm run lint -- --fix
npm run build && npm run test
npx tsc --noEmit
npx eslint src --ext .ts,.tsx
npx prettier --check .
npx jest --coverage
npm exec -- vitest run
pnpm install --frozen-lockfile
pnpm exec vitest
yarn add lodash
yarn test
bun test
deno test -A
node -e 'console.log("git push")'
node script.js --push
cargo build --release
cargo test -- --nocapture
cargo clippy --all-targets -- -D warnings
cargo fmt --check
cargo add serde
RUST_BACKTRACE=1 cargo test
go build ./...
go test ./... -run TestPush -v
go vet ./... && gofmt -l .
go mod tidy
GOFLAGS=-mod=mod go test ./...
mvn -q test
./gradlew test --info
./gradlew clean build
dotnet test
bundle install
bundle exec rspec
bundle exec rake db:migrate
rails test
php artisan test
composer install
mix test
swift build
zig build test
stack test
ctest --output-on-failure
tox -e py311
nox -s tests
pre-commit run --all-files
uv run pytest
uv run pytest -q tests/test_git_push.py
uv run python -m pytest
uv run --with rich python script.py
uv sync
uv add requests
uv remove requests
uv lock
uv tree
uv run ruff check . && uv run mypy src
uvx ruff check
which python
which pip
command -v git
command -v pip >/dev/null && echo has pip
type git
hash git 2>/dev/null && echo yes
docker build -t x .
docker compose up -d
docker run --rm img pip install x
terraform plan
kubectl get pods
helm template .
gh pr view 12
curl -s https://example.com/api | jq .
curl -sSL -o file.tar.gz https://example.com/file.tar.gz && tar xzf file.tar.gz
wget -q https://example.com/x.zip
curl -X POST -H 'Content-Type: application/json' -d '{"cmd":"git push"}' localhost:8000
curl -d @body.json localhost:8000
tar czf out.tgz src
unzip -o x.zip -d /tmp/x
mkdir -p build/out && cp -r assets build/out
mkdir -p ~/.cache/x
cp -r src /tmp/copy
cp .env.example .env
mv old.txt new.txt
mv src/a.py src/b.py && ls
rm file.txt
rm -f *.log
rm -rf build
rm -rf build/ dist/ *.egg-info
rm -rf ./node_modules
rm -rf node_modules package-lock.json && npm install
rm -rf "$TMPDIR/x"
rm -rf /tmp/test-output
rm -rf /tmp/ralph-*
rm -rf "$WORK"
rm -r src/old
rm -rf src/*.tmp
rm -rf target/debug/*
rm -rf .pytest_cache .mypy_cache .ruff_cache
rm -rf vendor/lib/.git
cd build && rm -rf *
cd sub && rm -rf ../build
d=$(mktemp -d); cp x "$d"; rm -rf "$d"
tmp=$(mktemp -d) && trap 'rm -rf "$tmp"' EXIT && cd "$tmp" && ls
rmdir empty
chmod +x scripts/*.sh
chmod -R u+w build
chown -R me:me src
touch a b c
ln -s ../shared shared
dd if=/dev/zero of=test.img bs=1M count=1
dd if=/dev/urandom of=/tmp/x bs=1k count=4
mkfs.ext4 -F disk.img
cat file > /dev/null
make > /dev/null 2>&1
ls 2>/dev/null
echo err >&2
echo x > out.txt 2>&1
cmd1 &> all.log
exec 3>&1
ps aux | grep node
kill 1234
kill -9 1234
kill -9 $(lsof -t -i:3000)
kill %1
pkill -f "node server.js"
lsof -i :3000
sleep 2 && curl localhost:3000
nohup node server.js > server.log 2>&1 &
(node server.js & echo $! > pid) && sleep 1
timeout 60 npm test
timeout -k 5 60 make test
time make
time -p make test
nice -n 10 make
env | sort
env FOO=bar make
env -i PATH="$PATH" make
export PATH="$HOME/.local/bin:$PATH" && node -v
export FOO="git push"
FOO=1 BAR="a b" make
X='rm -rf /' node -e 1
set -euo pipefail; make test
set -x
set -- a b c; echo "$@"
shift 2>/dev/null || true
unset FOO
source .venv/bin/activate
. ./env.sh && make
source ~/.bashrc
bash scripts/build.sh
bash -n script.sh
bash -x ./run.sh arg
sh ./configure --prefix=/usr
bash -c 'echo git push'
bash -c 'make test'
bash -lc "cd src && make"
bash -euo pipefail -c 'make && make test'
sh -c 'echo "$1"' _ "git push"
eval "make test"
sudo apt-get install -y git
apt-get install -y git python3-pip
brew install git
man git-push
tree -L 2
wc -l $(git ls-files '*.py')
diff <(sort a) <(sort b)
diff -u a b | head
comm -12 <(sort a) <(sort b)
sort -u names | tee sorted
xargs -n1 echo < list
ls | xargs -I{} echo {}
echo "a b" | xargs -n1 echo
git ls-files | xargs grep -n "git push"
git ls-files -z | xargs -0 sed -i 's/a/b/'
jq -r '.[] | select(.name == "git push") | .id' x.json
yq '.jobs.build.steps[].run' .github/workflows/ci.yml
sqlite3 db.sqlite "select * from t"
psql -c 'drop table x'
redis-cli ping
openssl rand -hex 16
python3 -c 'print("git push")'
python -c "import os; os.system('git push')"
python - <<< 'print(1)'
perl -pe 's/git push/x/' file
ruby -e 'puts 1'
x=5; y=$((x + 1)); echo $y
a=(1 2 3); echo "${a[@]}"
declare -A m=([a]=1 [b]=2); echo "${m[a]}"
name="git push"; echo "$name"
msg="rm -rf /"; printf '%s\n' "$msg"
run() { echo "+ $*"; "$@"; }; run make test
f() { local x=$1; echo "$x"; }; f "git push"
log() { echo "[$(date)] $*"; }; log "git push skipped"
retry() { for i in 1 2 3; do "$@" && return; sleep 1; done; }; retry npm test
fact() { if [ "$1" -le 1 ]; then echo 1; else echo $(( $1 * $(fact $(($1 - 1))) )); fi; }; fact 5
walk() { for d in "$1"/*/; do walk "$d"; done; ls "$1"; }; walk src
alias ll='ls -la'; ll
trap 'echo bye' EXIT; make
trap - EXIT
ssh -V
ssh-keygen -t ed25519 -f /tmp/key -N ''
test -f ~/.npmrc && echo yes
crontab -l
fdisk -l
date +%Y-%m-%d
basename "$PWD"
echo ${x:-default} ${#x} ${x%.*} ${x##*/} ${x//a/b} ${x^^}
echo $'tab\there' "$(date)" `pwd`
echo \$HOME \"quoted\" it\'s
ls *.{py,txt} [a-z]* ~/x
echo ! { } if then fi
echo $((1 << 2)) $((x > 1 ? 2 : 3))
cat a b > c; ls | wc -l
ls;ls&&ls||ls
ls |& tee log
ralph task add "Say: git push is forbidden"
ralph task log t-1 -m "rm -rf / is bad"
watch -n 1 ls -l
parallel echo ::: a b c
tmux new -d 'npm start'
strace -f -o trace.txt ./prog
xvfb-run -a npm test
flock /tmp/lock make
script -qc "npm test" /dev/null
git add -A
git add .
git add -p src/
git add src/a.py && git commit -m "feat: stop git push from hooks"
git commit -m "fix: don't rm -rf / any more"
git commit -am "docs: pip install is gone; use uv --no-verify"
git commit -m "a" -m "-n --amend"
git commit --allow-empty -m x
git commit -F msg.txt
git commit -S -m signed
git commit --fixup=abc123
git commit -v -m x
git commit -m "x" -- file-n
git commit --author="A <a@b>" -m "git reset --hard"
git -C sub commit -m x
GIT_AUTHOR_DATE=2020-01-01 git commit -m x
"""

TEXTS = [
    "echo a\\\nb",
    "cat > deploy.sh <<'EOF'\n#!/bin/sh\ngit push --force\nrm -rf /\nEOF",
    "cat > deploy.sh <<'EOF'; chmod +x deploy.sh\ngit push\nEOF",
    "cat <<EOF >> README.md\nRun pip install foo, then git push.\nEOF\n",
    "cat <<-EOF > x\n\tgit reset --hard\n\tEOF\nls",
    "cat <<A > a && cat <<B > b\ngit push\nA\nrm -rf /\nB\nls",
    "cat <<'EOF' | tee Dockerfile\nRUN pip install flask && rm -rf /var/lib/apt/lists/*\nEOF",
    "tee notes.md <<EOF\n`date`: git push\nEOF",
    "python - <<'PY'\nimport subprocess\nsubprocess.run(['git', 'push'])\nPY",
    "node <<'JS'\nconsole.log(`git push`)\nJS",
    'git commit -m "$(cat <<\'EOF\'\nfix: it\'s a "thing"\n\nNo git push; rm -rf /\nEOF\n)"',
    'git commit -m "line one\n\ngit push && rm -rf /\n"',
    "git add -A\ngit commit -m 'x'\ngit status",
    "git commit -F - <<'EOF'\nsubject\n\ngit reset --hard is gone\nEOF",
    "set -e\n# git push\nmake \\\n  -j4 \\\n  test\n",
    "if make; then\n  echo ok\nelse\n  echo 'git push failed'\nfi",
    "for d in a b; do\n  (cd $d && npm ci)\ndone",
    'while read -r a b; do\n  echo "$a" # git push\ndone <<< "git push"',
    'function build() {\n  local t=$1\n  make "$t"\n}\nbuild all',
    "case $x in\n  (a|b) echo ab ;;\n  *) echo git push ;;\nesac",
    "cat > a.py <<'EOF'\nx = '''\nEOF\necho done",
    "cat >f <<\\EOF\n$(git push)\nEOF",
    'cat >f <<"E F"\n$(git push)\nE F\nls',
    "sed -i '/git push/d;\n/rm -rf/d' x.sh",
    "awk '\n/git push/ { n++ }\nEND { print n }\n' x",
    "jq '\n  .a | .b\n' x.json",
    "make test\r\nls -la\r\n",
    "cat > f <<'EOF'\r\ngit push\r\nEOF\r\nls\r\n",
    "echo 'größer: git push' && ls naïve/ && echo 日本語",
    "\n\n  ls  \n\n",
    "",
    "   ",
    "# only a comment",
    "bash <<'EOF'\nset -e\nmake\necho 'git push'\nEOF",
    "ssh-keygen -lf ~/.ssh/id_ed25519.pub",
    "x=$(cat <<'EOF'\ngit push\nEOF\n)\necho \"$x\"",
    'echo "a\n# git push\nb"',
    "ls # it's a comment with a quote\nls",
    "arr=(\n  one # git push\n  'git push'\n)\nprintf '%s\\n' \"${arr[@]}\"",
]

EVERYDAY = [*filter(None, (LINES + MORE + TOOLS).splitlines()), *TEXTS]
