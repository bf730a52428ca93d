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
files=(~/*); for f in "${files[@]}"; do rm -f "$f"; done
cat <(ls -d /*) | xargs rm -rf
xargs -a <(ls -d /*) rm -rf
{ ls -d /*; ls -d /home/*; } | xargs rm -rf
x=$(find ~ -type f); echo "$x" | xargs rm -f
find / -type f -print0 | xargs -0 sh -c 'rm -f "$@"' _
env -i ls -d /* | nice xargs rm -rf
ls -d /* | parallel 'rm -rf {}'
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
pkill -x '.*'
pkill -9 -f '\w'
pkill -f "$NAME"
pgrep . | while read p; do kill -9 $p; done
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
fuser -km /
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
gtar -C / -xf x.tar
tar cf - . | (cd / && tar xf -)
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
>> ~/.bashrc echo x
echo x >> "$(realpath ~/.bashrc)"
: ${RC:=$HOME/.zshrc}; echo x >> "$RC"
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
dd if=x of=~/.bashrc
awk -i inplace '1' ~/.bashrc
sed -i -e 's/a/b/' ~/.profile
echo x >> ~/.{bash,zsh}rc
for f in ~/.bashrc ~/.zshrc; do echo x >> "$f"; done
echo 'gitdir: ../x' > sub/.git
scp me@host:.bashrc ~
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
echo '{}' > ~/.claude/settings.json
cp x.vim ~/.vim/plugin/x.vim
echo x > ~/.ipython/profile_default/startup/x.py
tar -C ~/.emacs.d -xf x.tar
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
git rm -rf '*'
git rm -rf :/
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
        'pkill -f "$NAME"',
    }
)
"""Perhaps from the root, perhaps not: noted where the policy is not strict."""
