// Makes every picture and recording of the documentation from the product:
//
//   npm run pictures [-- --list] [-- --only NAME…]
//
// Look at what it made before you commit it. Recordings and the picture of a run have the times of this machine.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))

/** By name: the files below `docs` and the command that makes them, with what it needs besides Node. */
export const pictures = {
  ...terminalPicture('rail'),
  ...terminalPicture('prompt'),
  ...terminalPicture('run'),
  ...terminalPicture('overview'),
  view: {
    files: inBoth('assets/view-overview', 'png').concat(inBoth('assets/view-run', 'png')),
    command: ['dev/view-pictures.mjs'],
    needs: 'Chromium',
  },
  ...recording('agent-session', ['dev/agent-session.mjs']),
  ...recording('restate-failover', ['dev/restate-failover.mjs'], 'the server of Restate'),
  ...triggerRecording('match'),
  ...triggerRecording('examples'),
  ...triggerRecording('paths'),
  ...triggerRecording('command'),
}

if (import.meta.main) main()

function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      list: { type: 'boolean', default: false },
      only: { type: 'boolean', default: false },
    },
  })
  const unknown = positionals.filter((name) => !Object.hasOwn(pictures, name))
  if (unknown.length > 0 || values.only !== positionals.length > 0) {
    console.error(
      `usage: npm run pictures [-- --list] [-- --only NAME…]; names: ${Object.keys(pictures).join(', ')}`,
    )
    process.exitCode = 2
    return
  }
  const wanted = Object.entries(pictures).filter(
    ([name]) => !values.only || positionals.includes(name),
  )
  if (values.list) {
    for (const [name, { files, needs }] of wanted) {
      console.log(`${name}${needs === undefined ? '' : ` (needs ${needs})`}`)
      for (const file of files) console.log(`  docs/${file}`)
    }
    return
  }
  if (!execute('dev/build-if-stale.mjs')) throw new Error('the build failed')
  const failed = wanted.filter(([name, { command }]) => {
    console.log(`\n# ${name}`)
    return !execute(...command)
  })
  for (const [name] of failed) console.error(`${name} was not made`)
  process.exitCode = failed.length > 0 ? 1 : 0
}

function execute(...args) {
  return spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' }).status === 0
}

function terminalPicture(name) {
  return {
    [name]: {
      files: inBoth(`assets/${name}`, 'svg'),
      command: ['dev/terminal-pictures.mjs', name],
    },
  }
}

function inBoth(name, extension) {
  return ['dark', 'light'].map((theme) => `${name}-${theme}.${extension}`)
}

function recording(name, script, needs) {
  return {
    [name]: {
      files: [`recordings/${name}.cast`],
      command: ['dev/record.mjs', name, '--', process.execPath, ...script],
      needs,
    },
  }
}

function triggerRecording(kind) {
  return recording(`trigger-${kind}`, ['dev/trigger-session.mjs', kind], 'Claude Code, from npm')
}
