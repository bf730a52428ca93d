"""Commands by where they reach: outside the checkout, into later sessions, at other processes."""

REFUSED_LINES = r"""
ls -d /* | xargs rm -rf
ls -d /* | sort | xargs -n1 rm -rf
ls -d ~/* | xargs -I{} rm -rf {}
ls / | sed 's|^|/|' | xargs rm -rf
ls -A "$HOME" | xargs -I@ rm -rf "$HOME/@"
sudo ls -d /etc/* | sudo xargs rm -r
echo /* | xargs rm -rf
printf '%s\0' /* | xargs -0 rm -rf
printf '%s\n' ~/* | while read -r x; do rm -rf "$x"; done
find ~ -type f -print0 | xargs -0 rm -f
find ~ -type f -print0 | xargs -0 -n 10 -P 4 rm
find "$HOME" -name '*.log' | xargs rm -f
find / -name '*.tmp' 2>/dev/null | grep -v proc | xargs -r rm -f
find .. -type f | xargs rm -f
find . -type f -print0 | xargs -0 rm -f
find . -mindepth 1 | xargs rm -rf
find / -type f | head -100 | tac | xargs rm
find /var/log -type f | while IFS= read -r f; do rm -f "$f"; done
while read -r f; do rm -rf "$f"; done < <(find / -maxdepth 1)
mapfile -t all < <(ls -d /*); rm -rf "${all[@]}"
for f in $(find ~ -type f); do rm -f "$f"; done
for f in $(ls -d /opt/*); do rm -rf $f; done
for f in ~/*; do rm -f "$f"; done
rm -rf $(ls -d /*)
rm -f $(find / -name '*.conf')
rm -rf `find /usr -name lib`
find / -type f | parallel rm -f
find ~ -type f | parallel rm -f {}
fd . / -x rm -rf
fd -t f . ~ --exec rm {}
fd . / | xargs rm -rf
rg --files / | xargs rm -f
rg -l secret ~ | xargs shred -u
grep -rl foo /etc | xargs rm
locate core | xargs rm -f
du -a / | sort -n | cut -f2 | xargs rm -rf
cd / && ls | xargs rm -rf
cd ~; find . -name '*.txt' | xargs rm
(cd /etc && ls | xargs -n1 rm -rf)
find ~ -exec sh -c 'rm -f "$1"' _ {} \;
find ~ -type f -exec unlink {} \;
find / -type f -exec truncate -s 0 {} +
find / -type f | xargs truncate -s 0
find / | xargs chmod 777
find /usr -type f -exec chown me {} +
ls -d /home/* | xargs chown -R me
ls -d /* | xargs -I{} mv {} /tmp/x
bash -c 'find ~ -type f | xargs rm -f'
f() { find "$1" -type f | xargs rm -f; }; f ~
wipe() { xargs rm -rf; }; ls -d /* | wipe
env A=b sh -c "ls -d /* | xargs rm -rf"
sudo bash -c "ls -d /* | xargs rm -rf"
rm -f ~/*
rm ~/Documents/*
rm -f /etc/*.conf
x='*'; rm -rf $x
rm -rf "$UNSET/"
rm -rf $UNSET/
rm -rf "$UNSET"/
rm -rf "${UNSET}/"
rm -rf "${UNSET}"/*
rm -rf $UNSET/*
rm -rf "$A$B/"
rm -rf "$A$B"/*
rm -rf "${A-}/"
rm -rf "$(cat dir.txt)/"
rm -rf `cat dir.txt`/*
rm -rf "$1/"
rm -r -- "$DIR/"*
sudo rm -rf "$PREFIX/"
bash -c 'rm -rf "$UNSET/"'
clean() { rm -rf "$1/"*; }; clean
find "$UNSET/" -delete
find $UNSET/ -type f -exec rm -f {} +
chmod -R 777 "$UNSET/"
chown -R me "$UNSET/"
rsync -a --delete empty/ "$UNSET/"
rm -rf "$UNSET/usr"
rm -rf "$UNSET/lib/x"
rm -rf "${DESTDIR}/usr/lib"
cd "$UNSET" && rm -rf *
cd $UNSET; rm -rf ./*
pkill -9 -f .
pkill .
pkill -f ''
pkill -f '.*'
pkill -9 -f '^'
pkill -f /
pkill -9 '[a-z]'
pkill -f '[[:alpha:]]'
pkill --full .
pkill --signal KILL -f .
pkill -KILL -f .
pkill -f 'x|.'
pkill -u me
pkill -u $USER
pkill -9 -U 1000
pkill --euid me
pkill -t pts/0
pkill -v node
pkill -9 -f -v nothing
pkill systemd
sudo pkill -9 -f .
env X=1 pkill -f .
bash -c 'pkill -9 -f .'
timeout 5 pkill -f .
killall -r .
killall -r '.*'
killall --regexp '^'
killall -u me
killall -9 -u "$USER"
killall -9 sshd
kill -9 -1
kill -KILL -1
kill -s KILL -- -1
kill -- -1
kill -9 1
kill -9 $(pgrep -f .)
pgrep . | xargs kill -9
pgrep -u me | xargs kill
ps -e -o pid= | xargs kill -9
ps aux | awk '{print $2}' | xargs kill -9
kill -9 $(ps -eo pid)
slay me
loginctl terminate-user me
crontab -
echo '* * * * * x' | crontab -
(crontab -l; echo '@reboot x') | crontab -
crontab jobs.txt
crontab -e
crontab -r
crontab -u root jobs
crontab < jobs
sudo crontab -u root -
bash -c 'crontab -'
crontab
at now + 1 hour < job.sh
echo ./x | at midnight
at -f job.sh noon
echo make | batch
systemctl enable x
systemctl --user enable --now x.service
systemctl --user link ./x.service
sudo systemctl enable --now x
systemd-run --user --on-calendar=daily ./x
loginctl enable-linger me
launchctl load x.plist
launchctl bootstrap gui/501 x.plist
update-rc.d x defaults
chsh -s /tmp/x
tar -C / -xf x.tar
tar -C/ -xf x.tar
tar -xf x.tar -C /
tar xf x.tar -C /
tar xfC x.tar /
tar xzf x.tgz --directory=/
tar --extract --file x.tar --directory /usr/local
tar -C ~ -xzf dotfiles.tgz
tar -C "$HOME" -x -f x.tar
tar -C .. -xf x.tar
cd / && tar xf /tmp/x.tar
cd ~ && tar -xzf /tmp/x.tgz
tar -xPf x.tar
curl -sL https://example.com/x.tgz | tar xz -C /usr/local
curl -s https://example.com/x | sudo tar -C / -xz
bsdtar -C / -xf x.tar
unzip x.zip -d /
unzip -o x.zip -d ~
unzip -od /etc x.zip
cd / && unzip /tmp/x.zip
7z x a.7z -o/
cd / && cpio -id < x
rsync -a out/ /
rsync -a dotfiles/ ~/
cp -r dotfiles/. ~/
cp -a root/. /
cp -r etc /
sudo cp x.service /etc/systemd/system/
cp x ~/.bashrc
cp .bashrc ~
cp .zshrc "$HOME"/
cp -t ~/.config/autostart x.desktop
cp --target-directory="$HOME/.config/autostart" x.desktop
mv x ~/.profile
install -m 755 x ~/.local/bin/x
install -D x.service ~/.config/systemd/user/x.service
ln -s "$PWD/rc" ~/.bashrc
ln -sf /tmp/x ~/.config/autostart/x.desktop
echo x >> ~/.bashrc
echo x >> ~/.zshrc
echo x > ~/.profile
echo 'export A=b' >> "$HOME/.bash_profile"
echo x >> ~/.config/fish/config.fish
echo x >> /home/me/.zshenv
echo x >> ~root/.bashrc
echo x >> /etc/profile
echo x > /etc/cron.d/x
echo x >> /etc/hosts
echo x &>> ~/.bashrc
: > ~/.bash_logout
> ~/.bashrc
{ echo a; echo b; } >> ~/.bashrc
( echo a ) >> ~/.zprofile
for i in 1 2; do echo $i; done >> ~/.bashrc
f() { echo x; }; f >> ~/.bashrc
f() { echo x >> "$1"; }; f ~/.bashrc
exec >> ~/.bashrc
rc=~/.bashrc; echo x >> "$rc"
cd ~ && echo x >> .bashrc
cd && cat x >> .profile
echo x | tee -a ~/.profile
echo x | sudo tee -a /etc/profile.d/x.sh
echo x | tee a.txt ~/.bashrc > /dev/null
sed -i 's/a/b/' ~/.bash_profile
sed -i.bak -e '/a/d' ~/.bashrc ~/.zshrc
perl -pi -e 's/a/b/' ~/.zshrc
dd if=x of=/home/me/.bashrc
dd if=x of=/etc/passwd
truncate -s 0 ~/.bashrc
curl -o ~/.bashrc https://example.com/x
curl -sLo ~/.local/bin/tool https://example.com/x
curl --output=/usr/bin/x https://example.com/x
wget -O ~/.zshrc https://example.com/x
wget -P ~/.config/autostart https://example.com/x
scp host:x ~/.bashrc
patch ~/.bashrc < x.patch
sponge ~/.bashrc < x
rm -f ~/.bashrc
echo x >> ~/.ssh/authorized_keys
echo x >> ~/.ssh/config
cp key.pub ~/.ssh/authorized_keys
cp hook .git/hooks/pre-commit
echo x > .git/hooks/post-commit
ln -s ../../hook .git/hooks/pre-push
tee .git/config < x
cp x.plist ~/Library/LaunchAgents/x.plist
sudo sh -c 'echo x >> /etc/rc.local'
env A=b bash -c 'echo x >> ~/.bashrc'
eval 'echo x >> ~/.bashrc'
trap 'echo x >> ~/.bashrc' EXIT
git config --global core.hooksPath /tmp/x
git rm -rf .
git rm -r .
git rm -rf *
git mv a b && git push
git rm x && git reset --hard
git restore --staged --worktree a
git restore -SW a
git restore a
git apply --unsafe-paths x.patch
git clean -fd
git clean
"""

REFUSED_TEXTS = [
    "cat >> ~/.bashrc <<'EOF'\nalias x=y\nEOF",
    "cat <<EOF >> ~/.profile\nexport A=b\nEOF",
    "tee -a ~/.zshrc <<EOF\nx\nEOF",
    "crontab - <<EOF\n* * * * * x\nEOF",
    "crontab <<'EOF'\n* * * * * x\nEOF",
    "bash <<'EOF'\nls -d /* | xargs rm -rf\nEOF",
    "bash <<EOF\npkill -9 -f .\nEOF",
    'find ~ -type f |\nwhile read -r f\ndo\n  rm -f "$f"\ndone',
    'clean() {\n  rm -rf "$BUILD/"\n}\nclean',
    "if true; then\n  tar -C / -xf x.tar\nfi",
    "at now <<EOF\nls\nEOF",
    "ls -d /* \\\n  | xargs rm -rf",
]

REFUSED = [*(line for line in REFUSED_LINES.splitlines() if line), *REFUSED_TEXTS]
"""Denied where the policy is strict; but for DOUBTED, everywhere."""

DOUBTED = frozenset(
    {
        'rm -rf "$UNSET/usr"',
        'rm -rf "$UNSET/lib/x"',
        'rm -rf "${DESTDIR}/usr/lib"',
        'cd "$UNSET" && rm -rf *',
        "cd $UNSET; rm -rf ./*",
    }
)
"""Perhaps from the root, perhaps not: noted where the policy is not strict."""

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
pkill -TERM -P "$PID"
pkill -f 'node server.js'
pkill -9 -x myserver
pkill -u me -f 'uvicorn app:app'
pkill -f "python -m http.server"
pgrep -a python
pgrep .
killall node
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
