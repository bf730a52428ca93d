"""A forbidden command in other clothes, on one line."""

DRESSED = r"""
/usr/bin/git push
/usr/local/bin/git push
./git push
../bin/git push
~/bin/git push
/usr/lib/git-core/git-push
git-push origin
GIT push
"git" push
'git' push
g\it push
g"i"t push
gi't' push
$'git' push
$'g\x69t' push
$'\147it' push
$"git" push
"git" "push"
git "push"
git p"us"h
git pu\sh
\git push
git${IFS}push
git$IFS$9push
{git,push}
g{it,} push
git {push,}
x=git; $x push
x=git; "$x" push
x=git; ${x} push
x="git push"; $x
x='git push'; eval $x
x=push; git $x
x=pu; git ${x}sh
a=g b=it; $a$b push
a=git; b=$a; $b push
x=gi; x+=t; $x push
export x=git; $x push
declare x=git; $x push
local x=git; $x push
readonly x=git; $x push
a=(git push); "${a[@]}"
a=(git push); ${a[*]}
a=(git); a+=(push); "${a[@]}"
a=(x git); ${a[1]} push
declare -a a=(git push); "${a[@]}"
set -- git push; "$@"
set -- git push; $1 $2
set -- x git push; shift; "$@"
${x:-git} push
${x:=git} push; $x push
${x-git push}
x=1; ${x:+git push}
$unset git push
"" ; $SUDO git push
g${nothing}it push
IFS=,; x=git,push; $x
for x in git; do $x push; done
for x in push pull; do git $x; done
for i in 1 2; do git push && break; done
for ((;;)); do git push; done
select x in git; do $x push; done
while git push; do :; done
while true; do git push; done
until git push; do sleep 1; done
if git push; then :; fi
if true; then git push; fi
if false; then :; elif git push; then :; fi
if false; then :; else git push; fi
case x in x) git push;; esac
case $x in a|b) ls;; *) git push;; esac
case $(git push) in x) ;; esac
(git push)
( ( git push ) )
((1)) && git push
{ git push; }
{ git push; } 2>&1 | cat
! git push
!(git push)
time git push
time -p git push
coproc git push
coproc N { git push; }
ls; git push
ls && git push
ls || git push
ls & git push
git push &
ls | git push
ls |& git push
git push | cat
git push;
;git push
git push # comment
echo $(git push)
echo "$(git push)"
echo "a $(echo $(git push))"
echo `git push`
echo "`git push`"
echo `echo \`git push\``
echo "${x:-$(git push)}"
echo ${x:-`git push`}
echo ${x//a/$(git push)}
echo $((1 + $(git push)))
echo ${a[$(git push)]}
a[$(git push)]=1
x=$(git push)
x=`git push`
x=$(git push) ls
export x=$(git push)
a=($(git push))
a=([0]=$(git push))
[[ $(git push) ]]
[[ -n `git push` ]]
[ "$(git push)" ]
test -n "$(git push)"
((x = $(git push)))
for x in $(git push); do :; done
cat <(git push)
diff <(git push) <(ls)
ls > >(git push)
tee >(git push) < x
cat <<< "$(git push)"
ls > "$(git push)"
ls >&'$(git push)'
ls 2> $(git push)
f() { git push; }; f
f() ( git push ); f
function f { git push; }; f
function f() { git push; }; f
f() { "$@"; }; f git push
f() { $1 $2; }; f git push
f() { git "$@"; }; f push
f() { g "$@"; }; g() { "$@"; }; f git push
f() { shift; "$@"; }; f x git push
f() { eval "$1"; }; f "git push"
f() { git push; }
f() if true; then git push; fi; f
alias x='git push'; x
alias g=git; g push
hash -p /usr/bin/git x; x push
eval git push
eval "git push"
eval 'git' "push"
eval "eval 'git push'"
eval "$(echo git push)"
eval `echo git push`
bash -c 'git push'
sh -c "git push"
bash -lc 'git push'
bash -ec 'git push'
bash -c -- 'git push'
bash -x -c 'git push'
bash --norc -c 'git push'
bash -o pipefail -c 'git push'
bash -euo pipefail -c 'git push'
bash -c 'git "$1"' _ push
bash -c '"$@"' _ git push
bash -c '$0 push' git
/bin/sh -c 'git push'
zsh -c 'git push'
dash -c 'git push'
$SHELL -c 'git push'
bash -c 'bash -c "git push"'
bash <<< 'git push'
sh <<< "git push"
bash -s <<< 'git push'
bash /dev/stdin <<< 'git push'
bash <(echo git push)
source <(echo git push)
. <(printf 'git push')
source /dev/stdin <<< 'git push'
echo 'git push' | sh
echo git push | bash
echo 'git push' | bash -s
echo 'git push' | bash -
echo 'git push' | cat | sh
echo 'git push' | tee x | sh
printf 'git push\n' | bash
printf '%s %s\n' git push | bash
printf 'git %s' push | sh
echo -e 'git\x20push' | sh
{ echo git push; } | sh
(echo ls; echo git push) | sh
cat <<< 'git push' | sh
echo 'git push' | { sh; }
echo 'git push' | (cd x && bash)
echo 'git push' | at now
echo push | xargs git
echo git push | xargs env
echo 'git push' | xargs -I{} sh -c '{}'
echo x | xargs git push
xargs git push < x
xargs -n 1 git push < x
xargs -I {} git push {} < x
ls | xargs -I% sh -c 'git push %'
find . -exec git push \;
find . -name x -exec git push {} +
find . -execdir git push \;
find . -exec sh -c 'git push' \;
fd x -x git push
sudo git push
sudo -u me git push
sudo -E -u me -- git push
sudo A=b git push
doas git push
nohup git push
nohup git push > x &
nice git push
nice -n 5 git push
ionice -c2 -n7 git push
timeout 5 git push
timeout -k 1 5 git push
timeout --signal=KILL 5 git push
timeout -s KILL 5s git push
time -f x git push
/usr/bin/time -v git push
stdbuf -oL git push
setsid git push
exec git push
exec -a x git push
command git push
command -p git push
builtin command git push
busybox sh -c 'git push'
env bash -c 'git push'
env A=1 B=2 nice timeout 5 sh -c 'git push'
chroot / git push
taskset 1 git push
strace -f -o x git push
watch git push
watch -n 1 'git push'
parallel git ::: push
parallel 'git push' ::: 1
parallel ::: 'git push'
script -c 'git push' /dev/null
script -qc 'git push' x
su -c 'git push'
su me -c 'git push'
flock /tmp/l -c 'git push'
ssh host git push
ssh -p 22 host 'git push'
tmux new -d 'git push'
tmux send-keys 'git push' Enter
trap 'git push' EXIT
trap "git push" INT TERM
uv run git push
npx -c 'git push'
entr git push < x
repeat 3 git push
noglob git push
FOO=bar git push
FOO=bar BAZ="q x" git push
x[1]=2 git push
a+=b git push
x=until "$x"git push
"${nothing[@]}" git push
"$@" git push
x=foo ${x}git push
if false; then x=a; fi; ${x}git push
false && x=a; $x git push
set -- git push; if false; then set -- ls; fi; "$@"
(env() { :; }); env git push
alias env=ls; env git push
G=$(which git); $G push
G=`command -v git`; "$G" push
$(type -P git) push
x[0]=git; ${x[0]} push
env -S'git push'
/usr/bin/env -S git push
batch <<< 'git push'
ssh localhost -- git push
firejail git push
>out git push
&>out git push
&>>out git push
<in git push >out
2>&1 git push
git 2>/dev/null push
git push >/dev/null 2>&1
ls 2>&1 | tee log; git push
[ -f x ] && git push
[[ -f x && ( -d y || $z == a* ) ]] && git push
if [[ $a =~ ^[0-9]+$ ]]; then git push; fi
echo "it's" 'a "b"' ; git push
echo a#b; git push
echo a \# b; git push
echo '#'; git push
echo "#" && git push
"""
