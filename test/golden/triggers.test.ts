import { golden, type Scenario } from './_golden.ts'

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

golden('triggers', {
  async 'triggers of a project'(scenario) {
    const { both, run, file, files } = scenario
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
      'match "/deploy staging"',
      'match "/deploy staging" --explain',
      'match "please rollback" --explain --trust-workspace',
      'match nothing --explain',
      'match "rollback" --budget 20',
      'match "rollback" --budget x',
      'match "/deploy staging" --skill deploy',
      'match --skill nothing -- "/deploy staging"',
      'inject "/deploy staging"',
      'inject "/deploy staging" --trust-workspace',
      'inject "rollback" --trust-workspace --budget 20',
      'inject "nothing" --trust-workspace',
      'inject --skill .skillrail/skills/deploy -- "/deploy staging"',
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
      'plugin pack .skillrail/skills/plain --dry-run',
      'plugin pack .skillrail/skills/plain --out plain',
      'validate plain/portable',
      'plugin pack .skillrail/skills/plain --out plain',
      'plugin pack .skillrail/skills/deploy --client cursor',
      'plugin pack .skillrail/skills/faulty',
      'index --dry-run',
      'index --check',
      'index --check --write AGENTS.md',
    ]) {
      await both(line)
    }
    await run('match', { stdin: '/deploy staging\n' })
    await run('inject --trust-workspace', { stdin: '/deploy staging\n' })
    await run('triggers export deploy')
    await run('triggers export deploy --json')
    await run('triggers export deploy')
    files('project/.skillrail/skills/deploy')
    file('project/.skillrail/skills/deploy/SKILL.md')
    file('project/.skillrail/skills/deploy/scripts/inject-context')
    await run('index --write')
    await run('index --write AGENTS.md CLAUDE.md')
    await run('index --write AGENTS.md --all --json')
    await run('index --check')
    file('project/AGENTS.md')
    scenario.write('project/CLAUDE.md', '# Mine\n\nText.\n')
    await run('index --dry-run')
    await run('index')
    await run('index --json')
    file('project/CLAUDE.md')
    await run('triggers export deploy --remove')
    await run('triggers export deploy --remove --json')
    file('project/.skillrail/skills/deploy/SKILL.md')
  },
  async 'the hook'(scenario) {
    const { both, run } = scenario
    skills(scenario)
    await both('hook log')
    const stdin = prompt('/deploy staging')
    for (const client of ['claude', 'codex', 'gemini', 'copilot', 'qwen', 'opencode', 'cline']) {
      await run(`hook ${client}`, { stdin })
      await run(`hook ${client} --trust-workspace`, { stdin })
    }
    await run('hook claude --trust-workspace', { stdin: 'no JSON' })
    await run('hook claude --trust-workspace', { stdin: prompt('nothing') })
    await run('hook nobody', { stdin })
    await run('hook claude --json --trust-workspace', { stdin })
    await both('hook log')
    await both('hooks log -n 2')
    await both('hook log -n x')
  },
})

golden(
  'hooks',
  {
    async 'hooks of clients'(scenario) {
      const { both, run, write, file, files } = scenario
      skills(scenario)
      write('home/.claude/settings.json', '{\n  // mine\n  "theme": "dark"\n}\n')
      await both('hooks status')
      await both('hooks install --dry-run')
      await both('hooks install claude gemini --project --dry-run')
      await both('hooks install nobody')
      await both('hooks install --user --project')
      await run('hooks install claude')
      await run('hooks install claude')
      await run('hooks install claude --json')
      file('home/.claude/settings.json')
      await run('hooks install')
      await run('hooks install --project claude --json')
      files('home')
      files('project')
      file('project/.claude/settings.json')
      await both('hooks status')
      await both('doctor')
      await both('hooks uninstall --dry-run')
      await run('hooks uninstall claude')
      await run('hooks uninstall --json')
      await run('hooks uninstall --project')
      await both('hooks uninstall')
      await both('hooks uninstall nobody')
      file('home/.claude/settings.json')
      files('home')
      write('home/.gemini/settings.json', '{\n"a"\n')
      await both('hooks install gemini qwen')
      await both('hooks status')
    },
  },
  { needsBuild: true },
)
