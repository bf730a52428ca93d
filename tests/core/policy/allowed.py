"""Ordinary work that looks a little like reaching out of the checkout."""

ALLOWED_LINES = r"""
git mv a.py b.py
git mv -f old new
git mv -k src/* lib/
git -C sub mv a b
git --no-pager mv a b
bash -c 'git mv a b'
git rm old.py
git rm -r old
git rm -rf build
git rm -q --ignore-unmatch x
git rm --cached secrets.env
git rm -r --cached .
git rm -r --cached . && git add -A
git rm -f -- a b
git ls-files -d | xargs git rm
git ls-files -d -z | xargs -0 git rm --cached
git rm '*.orig'
for f in *.txt; do git mv "$f" docs/; done
git mv a b && git commit -m 'move a'
git rm x.py && git commit -m 'remove x'
git add -N new.py
git add -u
git add -p < answers
git restore --staged a.py
git restore --staged .
git restore -S a.py
git apply x.patch
git apply -R --index x.patch
git apply --check x.patch
git diff | git apply -R
git check-ignore -v x
git stash list
git notes list
git worktree list
git bisect log
git clean -n
git clean -nfdx
git clean --dry-run -d
git rm -n x
git config --global --get user.name
rm -rf node_modules build/ ./dist "$PWD/build"
rm -rf "$PWD/build/"
rm -rf "$(pwd)/build"/*
rm -rf "${BUILD:?}/"
rm -rf "${BUILD:?not set}"/*
rm -rf "${BUILD:-build}/"
OUT="${OUT:-dist}"; rm -rf "$OUT/x"
rm -rf "$BUILD"
tmp=$(mktemp -d); rm -rf "$tmp/"
tmp="$(mktemp -d)"; trap 'rm -rf "$tmp"/*' EXIT
tmp=$(mktemp -d ./x.XXXX) && rm -rf "$tmp/a"
cd "$(mktemp -d)" && rm -rf *
BUILD=build; rm -rf "$BUILD/"
BUILD=build; rm -rf "$BUILD"/*
for d in *; do rm -rf "$d/target"; done
for d in a b; do rm -rf "$d/"; done
for d in packages/*/; do rm -rf "${d}node_modules"; done
ls | while read -r d; do rm -rf "$d/build"; done
find . -name '*.pyc' -delete
find . -type f -name '*.orig' | xargs rm -f
find . -type f -name '*.orig' -print0 | xargs -0 rm
find "$PWD" -name '*.rej' | xargs rm -f
find build -type f | xargs rm -f
find build -mindepth 1 -print0 | xargs -0 rm -rf
find . -name __pycache__ -type d | xargs rm -rf
find . -type f | grep '\.bak$' | xargs rm -f
find /tmp/x -type f | xargs rm -f
find /tmp -maxdepth 1 -name 'ralph-*' | xargs rm -rf
find . -name '*.swp' | while read -r f; do rm -f "$f"; done
while read -r f; do rm -f "$f"; done < <(git ls-files -o)
fd -e pyc -x rm
fd -e orig . src | xargs rm
rg -l 'generated' src | xargs rm -f
git ls-files -o --exclude-standard | xargs rm -f
git status --porcelain | awk '/^\?\?/{print $2}' | xargs rm -rf
ls *.tmp | xargs rm
ls -d /tmp/x-* | xargs rm -rf
ls /etc | xargs echo
find / -name 'x.h' | xargs grep foo
find ~ -name '*.md' -print0 | xargs -0 grep -l x
find . -print0 | xargs -0 grep x
n=$(find / -name python3 | wc -l); echo "$n"
ls -d ~/* | head
rm -f .git/index.lock
rm -f .git/*.lock
rm -f ~/x.txt
rm -f /tmp/*.log
kill $!
kill %1
kill %%
kill -0 1234
kill -1 1234
kill -s HUP 1234
kill -9 -12345
kill -- -1234
kill -9 "$(cat server.pid)"
kill $(pgrep -f 'node server.js')
pgrep -f 'vite --port' | xargs kill
ps aux | grep '[n]ode server' | awk '{print $2}' | xargs kill
pkill -P $$
pkill -n python
pkill -x R
pkill -F server.pid
pkill -TERM -P "$PID"
pkill -f 'node server.js'
pkill -9 -x myserver
pkill -u me -f 'uvicorn app:app'
pkill -f "python -m http.server"
pgrep -a python
pgrep .
killall node
fuser -k 8080/tcp
killall -9 -q webpack
kill -l
crontab -l
crontab -u me -l
crontab -l | grep backup
atq
at -l
systemctl status x
systemctl --user status x
systemctl --user is-enabled x
systemctl list-unit-files
launchctl list
tar -C build -xf x.tar
tar -C /tmp/x -xf x.tar
tar xf /usr/share/x.tar -C vendor
tar -C / -cf /tmp/x.tar etc/hosts
tar -C / -tf x.tar
tar tf /usr/x.tar
tar xzf x.tgz --exclude='etc/*'
cd build && tar xf ../x.tar
unzip -d out x.zip
unzip -l x.zip -d /
unzip -q x.zip -d /tmp/x
7z x a.7z -obuild
rsync -a out/ build/
rsync -a ~/.bashrc backup/
cp ~/.bashrc backup/
cp /etc/hosts fixtures/hosts
cp x /tmp/
cp -r skel/.config .
cp report.txt ~/
tar czf ~/backup.tgz src
ln -s ~/.cache/x cache
sed -n 1p ~/.bashrc
sed '/etc/d' x
sed -i '/etc/d' x
sed -i '/usr/local/d' Makefile
sed -i -e '/etc/d' -e '/usr/d' x
awk -i inplace '/usr/' x
grep -n alias ~/.bashrc ~/.zshrc
cat ~/.profile >> notes
source ~/.profile
. ~/.bashrc && node -v
bash ~/.profile
diff ~/.bashrc skel/.bashrc
echo x >> .profile
echo x >> ./.bashrc
echo x > home/.bashrc
cp x skel/.bashrc
tee skel/.zshrc < x
cd skel && echo x >> .bashrc
echo '.bashrc ~/.profile' > notes
echo "add it to ~/.bashrc"
printf '%s\n' '>> ~/.bashrc'
echo x > ~/.cache/x
mkdir -p ~/.cache/x && cp y ~/.cache/x/
echo x > ~/notes.txt
cp settings.xml ~/.m2/
ssh-keyscan github.com >> ~/.ssh/known_hosts
echo x >> .git/info/exclude
echo x > /dev/null 2> /dev/stderr
echo x > /tmp/.bashrc
curl -o /tmp/x https://example.com/x
curl -sO https://example.com/x
curl -so out.json https://example.com/x
wget -O - https://example.com/x
wget -P vendor https://example.com/x
dd if=/etc/hosts of=x
dd if=/dev/zero of=/tmp/x bs=1k count=1
install -D x build/bin/x
docker run -v ~/.m2:/root/.m2 maven tar -C / -xf x
ssh host 'cat x' > out
"""

ALLOWED_TEXTS = [
    "cat > .envrc <<'EOF'\necho x >> ~/.bashrc\nrm -rf \"$X/\"\nEOF",
    "cat <<'EOF' > setup.sh\ncrontab -\ntar -C / -xf x\npkill -9 -f .\nEOF",
    'clean() {\n  rm -rf "${1:?}/"\n}\nclean build',
    'clean() {\n  rm -rf "$1/"*\n}\nclean build',
    "git commit -m 'never run: ls -d /* | xargs rm -rf\n\nnor pkill -9 -f .'",
]

ALLOWED = [*(line for line in ALLOWED_LINES.splitlines() if line), *ALLOWED_TEXTS]
"""Allowed without a doubt, even where the policy is strict."""
