// Takes the pictures of the view for the documentation, docs/assets/view-*.png, with Debian's Chromium:
//
//   node dev/view-pictures.mjs [--into DIRECTORY] [--every]
//
// It makes a project, trusts it, runs its chains and opens `skillrail view` on it. `--every` takes
// every tab, wide and narrow. Names of this machine do not get into a picture.
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { runCli } from '../test/cli/run-cli.ts'
import { openBrowserPage } from '../test/servers/browser-page.ts'
import { startView } from '../test/view/_command.ts'

const { values } = parseArgs({
  options: {
    into: {
      type: 'string',
      default: fileURLToPath(new URL('../docs/assets', import.meta.url)),
    },
    every: { type: 'boolean', default: false },
  },
})

/** A skill with a script that works for some seconds and then prints its result. */
const task = (description, seconds, result) => ({
  description,
  script: `sleep ${seconds}\n${result}`,
})

const skills = {
  'lint-code': task('Lints every file. Use before a build.', 0.3, 'echo 412 files, no findings'),
  'check-types': task(
    'Checks the types. Use before a build.',
    0.6,
    'echo no errors in 38 packages',
  ),
  'unit-tests': task(
    'Runs the unit tests. Use before a build.',
    0.5,
    'echo 1,284 tests passed in 214 files',
  ),
  checks: {
    description: 'Lints, checks types and tests in parallel. Use before a build.',
    fields: 'metadata:\n  chain: |\n    lint-code & check-types & unit-tests\n',
  },
  'build-image': task(
    'Builds the image of the shop. Use before a deployment.',
    0.5,
    'echo shop:4f1c2ab, 61 MB',
  ),
  'e2e-tests': task(
    'Buys something in the shop. Use after a build.',
    0.4,
    `if [ "$1" = fail ] || [ ! -e .seen ]; then
  touch .seen
  echo 'POST /checkout: expected 200, got 503' >&2
  echo '{"status":"failure","result":"checkout answers 503","errors":[{"code":"http-503","message":"POST /checkout answered 503"}]}'
else echo 18 journeys passed; fi`,
  ),
  'deploy-staging': {
    ...task('Deploys to staging. Use when a build is to be deployed.', 0.1, 'echo deployed'),
    fields: `triggers:
  - match: (deploy|ship|roll ?out) .*staging
    inject: references/staging.md
  - match: roll ?back
    inject: references/rollback.md
`,
    files: {
      'references/staging.md': 'Staging has three servers.\n'.repeat(30),
      'references/rollback.md': 'Deploy the tag before.\n'.repeat(9),
    },
  },
  'report-result': task('Sums up a release. Use last.', 0.1, 'echo posted to the release page'),
  release: {
    description: 'Checks, builds, tests and deploys the shop. Use for a release.',
    fields: `metadata:
  chain: |
    checks
    build-image timeout=60
    e2e-tests retry=2
    deploy-staging gate
    report-result always
`,
  },
  nightly: {
    description: 'Checks and buys something, each night. Use in CI.',
    fields:
      'metadata:\n  chain: |\n    checks\n    e2e-tests\n    report-result always\n  continue_on_error: "false"\n',
  },
  'format-dates': {
    description: 'Formats dates. Use for dates in reports.',
    fields: 'triggers:\n  - match: iso date\n    inject: references/dates.md\n',
  },
}

const root = mkdtempSync(join(tmpdir(), 'skillrail-pictures-'))
const [project, home] = [join(root, 'shop'), join(root, 'home')]
let view
let page
try {
  makeProject()
  const cli = async (...args) => (await runCli(args, { cwd: project, home })).stdout
  await cli('trust', '--yes')
  await cli('hooks', 'install', 'claude', '--user')
  await cli('run', 'release')
  await cli('run', 'nightly', 'fail')
  await cli('tools', 'refresh')
  await promptAt(home, 'please deploy the fix to staging')
  view = await startView(project, home)
  page = await openBrowserPage()
  const runs = JSON.parse(await cli('runs', 'list', '--json')).runs
  const [waiting, failed] = ['waiting', 'failure'].map(
    (status) => runs.find((run) => run.status === status)?.runId,
  )
  await page.go(await view.address())
  mkdirSync(values.into, { recursive: true })
  for (const scheme of ['light', 'dark']) {
    for (const width of values.every ? [1280, 400] : [1280]) {
      await takeAll(scheme, width, waiting, failed)
    }
  }
} finally {
  await page?.close()
  await view?.interrupt()
  rmSync(root, { recursive: true, force: true })
}

async function takeAll(scheme, width, waiting, failed) {
  const shown = { overview: 'Needs attention', [`runs/${waiting}`]: 'Approve deploy-staging' }
  const { skills: listed } = await view.ask('skills')
  const idOf = (name) => listed.find((skill) => skill.name === name)?.id
  const more = {
    skills: 'release',
    [`skills/${idOf('deploy-staging')}`]: 'What it can execute',
    [`skills/${idOf('format-dates')}`]: 'format-dates',
    triggers: 'What the hook did',
    [`chains/${idOf('release')}`]: 'Last run',
    [`runs/${failed}`]: 'expected 200',
    tools: 'Servers',
  }
  for (const [place, text] of Object.entries(values.every ? { ...shown, ...more } : shown)) {
    await page.resize({ width, height: width === 400 ? 900 : 860, scheme })
    await page.evaluate(`location.hash = '#/${place}'`)
    await page.until(`document.body.innerText.includes(${JSON.stringify(text)})`)
    await page.evaluate(`{
      document.querySelector('.project').textContent = '~/shop'
      document.activeElement?.blur()
    }`)
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 300)))')
    const name = place
      .replace(/\/.*/, place === `runs/${failed}` ? '-failed' : place.includes('/') ? '-one' : '')
      .replace('runs-one', 'run')
    const file = join(values.into, `view-${name}-${width === 1280 ? '' : `${width}-`}${scheme}.png`)
    writeFileSync(file, await page.screenshot())
    console.log(file)
  }
}

function makeProject() {
  const write = (path, text, mode = 0o644) => {
    const file = join(project, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    chmodSync(file, mode)
  }
  mkdirSync(join(home, '.claude'), { recursive: true })
  mkdirSync(join(home, '.codex'), { recursive: true })
  mkdirSync(join(project, '.git'), { recursive: true })
  for (const [name, { description, fields = '', script, files = {} }] of Object.entries(skills)) {
    const place = `.agents/skills/${name}`
    write(
      `${place}/SKILL.md`,
      `---\nname: ${name}\ndescription: ${description}\n${fields}---\n\n# ${name}\n`,
    )
    if (script !== undefined) write(`${place}/scripts/run.sh`, `#!/bin/sh\n${script}\n`, 0o755)
    for (const [path, text] of Object.entries(files)) write(`${place}/${path}`, text)
  }
  const servers = { database: { command: 'no-such-server', args: ['--readonly'] } }
  write('.mcp.json', JSON.stringify({ mcpServers: servers }))
}

/** A prompt as Claude Code would give it to the hook. */
async function promptAt(userHome, prompt) {
  const input = { session_id: 's', cwd: project, hook_event_name: 'UserPromptSubmit', prompt }
  await runCli(['hooks', 'run', 'claude'], {
    cwd: project,
    home: userHome,
    stdin: JSON.stringify(input),
  })
}
