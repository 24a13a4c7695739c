import { describe, expect, it } from 'vitest'
import { commands } from '../../src/cli/registry.ts'
import { expectOutcomes } from './_outcomes.ts'
import { stepsOf } from './_scenario.ts'

const names = commands.map(({ name }) => name)

describe('every command', () => {
  it('has a help page with its usage, its options and an example', async () => {
    const steps = await stepsOf(async ({ run }) => {
      for (const name of names) await run(`${name} --help`)
    })
    for (const { line, code, stdout, stderr } of steps) {
      const usage = `Usage: ${line.replace(' --help', '')}`
      const missing = [usage, '\nOptions:\n', '\n  $ skillrail '].filter(
        (part) => !stdout.includes(part),
      )
      expect({ line, code, stderr, missing }).toEqual({ line, code: 0, stderr: '', missing: [] })
    }
    expect(steps).toHaveLength(names.length)
  })

  it('refuses an unknown option', async () => {
    const steps = await stepsOf(async ({ run }) => {
      for (const name of names) await run(`${name} --bogus --json`)
    })
    for (const { line, code, stdout } of steps) {
      expect({ code, line, error: errorCode(stdout) }).toEqual({
        code: 2,
        line,
        error: 'wrong-use',
      })
    }
  })
})

function errorCode(stdout: string): unknown {
  const { error }: { error: { code: string } } = JSON.parse(stdout)
  return error.code
}

it('explains the command line and refuses what it does not know', { timeout: 180_000 }, () =>
  expectOutcomes(
    async ({ run }) => {
      for (const line of [
        '',
        '--help',
        '-h',
        'help',
        'help --all',
        '--version',
        '-V',
        'help run',
        'help tools workflow',
        'runs',
        'runs --help',
        'chain',
        'agent subagents',
        'tools',
        'tools --help',
        'tools workflow',
        'tools session',
        'triggers',
        'hooks',
        'mcp',
        'rnu',
        'rnu --json',
        'runs lst',
        'tools workflow ad',
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
    },
    [
      '0 ',
      '0 --help',
      '0 -h',
      '0 help',
      '0 help --all',
      '0 --version',
      '0 -V',
      '0 help run',
      '0 help tools workflow',
      '2 runs',
      '0 runs --help',
      '2 chain',
      '2 agent subagents',
      '2 tools',
      '0 tools --help',
      '2 tools workflow',
      '2 tools session',
      '2 triggers',
      '2 hooks',
      '2 mcp',
      '2 rnu',
      '2 rnu → unknown-command',
      '2 runs lst',
      '2 tools workflow ad',
      '2 --bogus',
      '2 --bogus → wrong-use',
      '2 list --bogus → wrong-use',
      '2 list extra',
      '2 list extra → wrong-use',
      '2 show',
      '2 show → wrong-use',
      '2 run --jsn x',
      '2 -C nowhere list',
      '2 -C nowhere list → directory-missing',
      '2 -C',
      '2 --config missing.json list',
      '2 --config missing.json list → configuration-missing',
      '2 list --quiet --verbose',
    ],
  ),
)

it('refuses a command without its argument', { timeout: 180_000 }, () =>
  expectOutcomes(
    async ({ run }) => {
      for (const name of [
        'run; runs show; runs resume; runs retry; runs fork; runs cancel; runs approve; runs reject',
        'chain plan; chain start; chain next; chain report; chain status; agent; agent delegate; agent delegate x',
        'agent subagents show; tools show; tools search; tools route',
        'tools do; tools call; tools workflow edit; tools workflow enable; tools workflow disable; tools workflow remove',
        'tools workflow plan; show; show --properties; show --activate; new; hooks run; tools workflow add',
      ]
        .join('; ')
        .split('; ')) {
        await run(name)
      }
    },
    [
      '2 run',
      '2 runs show',
      '2 runs resume',
      '2 runs retry',
      '2 runs fork',
      '2 runs cancel',
      '2 runs approve',
      '2 runs reject',
      '2 chain plan',
      '2 chain start',
      '2 chain next',
      '2 chain report',
      '2 chain status',
      '2 agent',
      '2 agent delegate',
      '2 agent delegate x',
      '2 agent subagents show',
      '2 tools show',
      '2 tools search',
      '2 tools route',
      '2 tools do',
      '2 tools call',
      '2 tools workflow edit',
      '2 tools workflow enable',
      '2 tools workflow disable',
      '2 tools workflow remove',
      '2 tools workflow plan',
      '2 show',
      '2 show --properties',
      '2 show --activate',
      '2 new',
      '2 hooks run',
      '2 tools workflow add',
    ],
  ),
)
