"""What `ralph --help` says: the few commands that a newcomer needs."""

HELP = """\
ralph turns an idea into verified commits: it gives each task of a graph to a fresh session of a
coding agent, checks the result itself, and goes on until every task is settled.

usage: ralph COMMAND [OPTIONS]

start
  init            make the current directory a Ralph project
  doctor          check that everything Ralph needs is there and sound
  demo            watch a scripted agent build a sample project

plan
  prd             write stories from what you want, with an agent or alone
  plan            plan how they are built
  feature create  from an idea to tasks, with an agent: spec, plan, build
  task add        add a task
  task list       list tasks
  task tree       show tasks below their parents
  task deps add   let one task wait for another

run
  auto            from an idea to validated commits, in one go
  build           build the stories of the PRD, one after the other
  run             work through the tasks until all are settled
  team run        let several workers build a goal, from a sentence
  status          what is going on, what comes next, what is stuck
  logs            what happened in the sessions of a task or a run
  pause, resume, stop, skip, inject
                  steer a run while it works
  undo            take back what a task has committed

more
  help COMMAND    options and examples of a command (also COMMAND --help)
  help --all      every command
  completion      tab completion for bash, zsh and fish

options of every command
  -C DIR          work as if started in DIR
  --color WHEN    auto, always or never; NO_COLOR is honoured
  --debug         show a traceback when something goes wrong
  --version       print the version

examples
  ralph init
  ralph task add "Add a health endpoint" -d "GET /health answers 200"
  ralph run
"""
