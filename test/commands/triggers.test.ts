import { existsSync } from 'node:fs'
import { describe, it } from 'vitest'
import { expectOutcomes } from './_outcomes.ts'
import type { Scenario } from './_scenario.ts'

const prompt = (text: string): string =>
  JSON.stringify({ session_id: 's', hook_event_name: 'UserPromptSubmit', prompt: text, cwd: '.' })

function skills({ skill, write }: Scenario): void {
  const triggers =
    'triggers:\n  - match: "^/deploy (staging|production)"\n    inject: references/flow.md\n  - match: "roll ?back"\n    inject: [references/back.md, references/flow.md]\nargument-hint: "[staging|production|status]"'
  skill('deploy', { head: triggers, body: '# Deploy\n\nSee [flow](references/flow.md).' })
  write('project/.skillrail/skills/deploy/references/flow.md', 'FLOW\n')
  write('project/.skillrail/skills/deploy/references/back.md', `BACK\n${'text '.repeat(200)}\n`)
  skill('faulty', {
    head: 'triggers:\n  - match: "(a+)+$"\n    inject: references/none.md\n  - match: "["\n    inject: ../out.md\n  - inject: references/x.md',
  })
  skill('plain')
}

/** Prompts in the form of Claude Code; the first six used the skill `deploy`. */
const transcript = [
  'ship the api to staging',
  'roll out version 2 of billing',
  'staging needs the latest build',
  'bring the shop into production',
  'release payments to production',
  'get the search service live today',
  'explain this expression',
  'write a test for the parser',
  'why is the page slow',
  'rename this variable',
  'add a button to the form',
  'translate this text',
]
  .flatMap((content, index) => [
    { type: 'user', message: { role: 'user', content } },
    ...(index < 6
      ? [
          {
            type: 'assistant',
            message: { content: [{ type: 'tool_use', name: 'Skill', input: { skill: 'deploy' } }] },
          },
        ]
      : []),
  ])
  .map((entry) => `${JSON.stringify(entry)}\n`)
  .join('')

it('matches, checks, evaluates and exports triggers', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json, run } = scenario
      skills(scenario)
      scenario.write(
        'project/prompts.jsonl',
        '{"prompt":"/deploy staging","inject":true}\n{"prompt":"deploy it","inject":true}\n{"prompt":"please roll back","inject":["references/back.md","references/flow.md"]}\n{"prompt":"hello","inject":false}\n',
      )
      scenario.write('project/sessions/one.jsonl', transcript)
      scenario.write('project/broken.json', '{ "evals": [\n  { "id": 1 }\n] }\n')
      scenario.write(
        'project/.skillrail/skills/deploy/evals/evals.json',
        '{ "evals": [{ "id": 1, "prompt": "/deploy production" }] }\n',
      )
      for (const line of [
        'triggers match "/deploy staging"',
        'triggers match "/deploy staging" --explain',
        'triggers match "please rollback" --explain --trust-workspace',
        'triggers match nothing --explain',
        'triggers match "rollback" --budget 20',
        'triggers match "rollback" --budget x',
        'triggers match "/deploy staging" --skill deploy',
        'triggers match --skill nothing -- "/deploy staging"',
        'triggers inject "/deploy staging"',
        'triggers inject "/deploy staging" --trust-workspace',
        'triggers inject "rollback" --trust-workspace --budget 20',
        'triggers inject "nothing" --trust-workspace',
        'triggers inject --skill .skillrail/skills/deploy -- "/deploy staging"',
        'triggers list',
        'triggers list deploy',
        'triggers list nothing',
        'triggers check',
        'triggers check deploy',
        'triggers check faulty',
        'triggers check .skillrail/skills/plain',
        'triggers check nothing',
        'triggers eval',
        'triggers eval deploy --prompts prompts.jsonl',
        'triggers eval deploy --prompts prompts.jsonl --min-recall 90',
        'triggers eval deploy --prompts broken.json',
        'triggers eval --prompts prompts.jsonl',
        'triggers suggest',
        'triggers suggest deploy --transcripts sessions',
        'triggers suggest faulty --transcripts sessions/one.jsonl',
        'triggers suggest --transcripts nothing',
        'triggers export deploy --dry-run',
        'triggers export faulty',
        'triggers export nothing',
        'hooks pack .skillrail/skills/plain --dry-run',
        'hooks pack .skillrail/skills/plain --out plain',
        'validate plain/portable',
        'hooks pack .skillrail/skills/plain --out plain',
        'hooks pack .skillrail/skills/deploy --client cursor',
        'hooks pack .skillrail/skills/faulty',
        'triggers index --dry-run',
        'triggers index --check',
        'triggers index --check --write AGENTS.md',
      ]) {
        await json(line)
      }
      await run('triggers match', { stdin: '/deploy staging\n' })
      await run('triggers inject --trust-workspace', { stdin: '/deploy staging\n' })
      await run('triggers export deploy')
      await run('triggers export deploy --json')
      await run('triggers export deploy')
      await run('triggers index --write')
      await run('triggers index --write AGENTS.md CLAUDE.md')
      await run('triggers index --write AGENTS.md --all --json')
      await run('triggers index --check')
      scenario.write('project/CLAUDE.md', '# Mine\n\nText.\n')
      await run('triggers index --dry-run')
      await run('triggers index')
      await run('triggers index --json')
      await run('triggers export deploy --remove')
      await run('triggers export deploy --remove --json')
    },
    [
      '0 triggers match "/deploy staging" → field-type path-outside trigger-form',
      '0 triggers match "/deploy staging" --explain → field-type outcome=fired outcome=near-miss path-outside trigger-form',
      '0 triggers match "please rollback" --explain --trust-workspace → field-type outcome=near-miss outcome=no-match path-outside trigger-form',
      '0 triggers match nothing --explain → field-type outcome=no-match path-outside trigger-form',
      '0 triggers match "rollback" --budget 20 → field-type path-outside trigger-form',
      '2 triggers match "rollback" --budget x → option-number',
      '0 triggers match "/deploy staging" --skill deploy → field-type',
      '3 triggers match --skill nothing -- "/deploy staging" → skill-not-found',
      '0 triggers inject "/deploy staging" → field-type path-outside trigger-form',
      '0 triggers inject "/deploy staging" --trust-workspace → field-type path-outside trigger-form',
      '0 triggers inject "rollback" --trust-workspace --budget 20 → field-type path-outside trigger-form',
      '0 triggers inject "nothing" --trust-workspace → field-type path-outside trigger-form',
      '0 triggers inject --skill .skillrail/skills/deploy -- "/deploy staging" → field-type',
      '0 triggers list → field-type path-outside trigger-form',
      '0 triggers list deploy → field-type',
      '3 triggers list nothing → skill-not-found',
      '1 triggers check → field-type path-outside trigger-form trigger-format trigger-small-skill trigger-target-missing',
      '1 triggers check deploy → field-type trigger-format trigger-small-skill',
      '1 triggers check faulty → path-outside trigger-form trigger-format trigger-target-missing',
      '0 triggers check .skillrail/skills/plain',
      '3 triggers check nothing → skill-not-found',
      '0 triggers eval',
      '0 triggers eval deploy --prompts prompts.jsonl',
      '1 triggers eval deploy --prompts prompts.jsonl --min-recall 90',
      '1 triggers eval deploy --prompts broken.json → prompt-case-invalid',
      '2 triggers eval --prompts prompts.jsonl → eval-skills',
      '0 triggers suggest',
      '0 triggers suggest deploy --transcripts sessions',
      '0 triggers suggest faulty --transcripts sessions/one.jsonl',
      '1 triggers suggest --transcripts nothing → system-enoent',
      '0 triggers export deploy --dry-run → action=wrote trigger-format',
      '0 triggers export faulty → action=wrote trigger-format',
      '3 triggers export nothing → skill-not-found',
      '0 hooks pack .skillrail/skills/plain --dry-run',
      '0 hooks pack .skillrail/skills/plain --out plain',
      '0 validate plain/portable',
      '1 hooks pack .skillrail/skills/plain --out plain → plugin-exists',
      '2 hooks pack .skillrail/skills/deploy --client cursor → plugin-client-unknown',
      '1 hooks pack .skillrail/skills/faulty → path-outside plugin-skill-invalid trigger-form trigger-target-missing',
      '0 triggers index --dry-run → state=stale',
      '1 triggers index --check → state=stale',
      '1 triggers index --check --write AGENTS.md → state=stale',
      '0 triggers match',
      '0 triggers inject --trust-workspace',
      '0 triggers export deploy',
      '0 triggers export deploy → trigger-format',
      '0 triggers export deploy',
      '0 triggers index --write',
      '0 triggers index --write AGENTS.md CLAUDE.md',
      '0 triggers index --write AGENTS.md --all → state=current',
      '0 triggers index --check',
      '0 triggers index --dry-run',
      '0 triggers index',
      '0 triggers index',
      '0 triggers export deploy --remove',
      '0 triggers export deploy --remove',
    ],
  ),
)

it('answers the hooks of every client', { timeout: 180_000 }, () =>
  expectOutcomes(
    async (scenario) => {
      const { json, run } = scenario
      skills(scenario)
      await json('hooks log')
      const stdin = prompt('/deploy staging')
      for (const client of ['claude', 'codex', 'gemini', 'copilot', 'qwen', 'opencode', 'cline']) {
        await run(`hooks run ${client}`, { stdin })
        await run(`hooks run ${client} --trust-workspace`, { stdin })
      }
      await run('hooks run claude --trust-workspace', { stdin: 'no JSON' })
      await run('hooks run claude --trust-workspace', { stdin: prompt('nothing') })
      await run('hooks run nobody', { stdin })
      await run('hooks run claude --json --trust-workspace', { stdin })
      await json('hooks log')
      await json('hooks log -n 2')
      await json('hooks log -n x')
    },
    [
      '0 hooks log',
      '0 hooks run claude',
      '0 hooks run claude --trust-workspace',
      '0 hooks run codex',
      '0 hooks run codex --trust-workspace',
      '0 hooks run gemini',
      '0 hooks run gemini --trust-workspace',
      '0 hooks run copilot',
      '0 hooks run copilot --trust-workspace',
      '0 hooks run qwen',
      '0 hooks run qwen --trust-workspace',
      '0 hooks run opencode',
      '0 hooks run opencode --trust-workspace',
      '2 hooks run cline',
      '2 hooks run cline --trust-workspace',
      '0 hooks run claude --trust-workspace',
      '0 hooks run claude --trust-workspace',
      '2 hooks run nobody',
      '0 hooks run claude --trust-workspace',
      '0 hooks log',
      '0 hooks log -n 2',
      '2 hooks log -n x → option-number',
    ],
  ),
)

/** `hooks install` copies a file that the build makes. */
const isBuilt = existsSync(new URL('../../dist/hook/hook.cjs', import.meta.url))

describe.skipIf(!isBuilt)('with a build', () => {
  it('installs and removes hooks', { timeout: 180_000 }, () =>
    expectOutcomes(
      async (scenario) => {
        const { json, run, write } = scenario
        skills(scenario)
        write('home/.claude/settings.json', '{\n  // mine\n  "theme": "dark"\n}\n')
        await json('hooks status')
        await json('hooks install --dry-run')
        await json('hooks install claude gemini --project --dry-run')
        await json('hooks install nobody')
        await json('hooks install --user --project')
        await run('hooks install claude')
        await run('hooks install claude')
        await run('hooks install claude --json')
        await run('hooks install')
        await run('hooks install --project claude --json')
        await json('hooks status')
        await run('doctor')
        await json('hooks uninstall --dry-run')
        await run('hooks uninstall claude')
        await run('hooks uninstall --json')
        await run('hooks uninstall --project')
        await json('hooks uninstall')
        await json('hooks uninstall nobody')
        write('home/.gemini/settings.json', '{\n"a"\n')
        await json('hooks install gemini qwen')
        await json('hooks status')
      },
      [
        '0 hooks status → state=absent state=missing state=unknown state=unsupported',
        '0 hooks install --dry-run → action=changed',
        '0 hooks install claude gemini --project --dry-run → action=made',
        '2 hooks install nobody → client-unknown',
        '2 hooks install --user --project → wrong-use',
        '0 hooks install claude',
        '0 hooks install claude',
        '0 hooks install claude → action=none',
        '0 hooks install',
        '0 hooks install --project claude → action=made',
        '0 hooks status → state=absent state=current state=installed state=ready state=unknown state=unsupported',
        '0 doctor',
        '0 hooks uninstall --dry-run → action=changed action=kept action=none',
        '0 hooks uninstall claude',
        '0 hooks uninstall → action=kept action=none',
        '0 hooks uninstall --project',
        '0 hooks uninstall → action=none action=removed',
        '2 hooks uninstall nobody → client-unknown',
        '1 hooks install gemini qwen → action=made client-configuration-broken',
        '1 hooks status → state=absent state=broken state=current state=installed state=outdated state=ready state=unknown state=unsupported',
      ],
    ),
  )
})
