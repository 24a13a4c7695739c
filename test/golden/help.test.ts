import { golden, type Scenario } from './_golden.ts'

const names = `run; runs list; runs show; runs resume; runs retry; runs fork; runs cancel; runs approve;
runs reject; runs prune; worker; chain plan; chain start; chain next; chain report; chain status; agent;
delegate; agents list; agents show; agents validate; tools import; tools servers; tools auth; tools serve;
tools refresh; tools list; tools show; tools search; workflow list; workflow add; workflow edit;
workflow enable; workflow disable; workflow remove; workflow check; workflow plan; session show;
session clear; session list; tools route; tools learn add; tools learn list; tools learn remove;
tools learn clear; tools do; tools call; tools batch; tools chain; mcp serve; list; show; properties;
prompt; activate; new; validate; audit; schema; plugin pack; match; inject; triggers list; triggers check; triggers eval; triggers suggest;
triggers export; index; hooks install; hooks uninstall; hooks status; hooks log; hook log; hook; trust; view; overview; completion; doctor`

const commands = names.split(/;\s+/)

async function general({ run }: Scenario): Promise<void> {
  for (const line of [
    '',
    '--help',
    '-h',
    'help',
    'help --all',
    '--version',
    '-V',
    'help run',
    'help tools learn',
    'runs',
    'runs --help',
    'chain',
    'agents',
    'tools',
    'tools --help',
    'tools learn',
    'workflow',
    'session',
    'triggers',
    'hooks',
    'mcp',
    'rnu',
    'rnu --json',
    'runs lst',
    'tools learn ad',
    '--bogus',
    '--bogus --json',
    'list --bogus --json',
    'list extra',
    'list extra --json',
    'show',
    'show --json',
    'run --jsn x',
    '-C nowhere list',
    '-C nowhere list --json',
    '-C',
    '--config missing.json list',
    '--config missing.json list --json',
    'list --quiet --verbose',
  ]) {
    await run(line)
  }
}

golden('help', {
  'the command line itself': general,
  async 'help of every command'({ run }) {
    for (const name of commands) await run(`${name} --help`)
  },
  async 'an unknown option of every command'({ run }) {
    for (const name of commands) await run(`${name} --bogus`)
  },
  async 'every command that needs an argument, without one'({ run }) {
    for (const name of [
      'run; runs show; runs resume; runs retry; runs fork; runs cancel; runs approve; runs reject',
      'chain plan; chain start; chain next; chain report; chain status; agent; delegate; delegate x',
      'agents show; tools show; tools search; tools route; tools learn add; tools learn add x',
      'tools do; tools call; workflow edit; workflow enable; workflow disable; workflow remove',
      'workflow plan; show; properties; activate; new; hook; workflow add; tools learn remove',
    ]
      .join('; ')
      .split('; ')) {
      await run(name)
    }
  },
})
