// What `npm start` shows a newcomer: what Skillrail is for, then commands that work in this clone.
import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { styleText } from 'node:util'
import { playDemo, wrapped } from './demo.mjs'

const width = Math.min(process.stdout.columns ?? 100, 100)
const colours = { you: 'cyan', agent: 'yellow', Skillrail: 'green' }

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** Commands that work in a clone, with nothing installed and nothing trusted. */
const here = [
  'new --rail release --dry-run',
  'run examples/shop/skills/chain-audit --trust-workspace',
  'validate examples/rail-release',
  '--help',
]

const { reference, chain } = playDemo()
show('A reference that the model gets with the prompt', reference)
show('A chain whose steps are checked, and that the agent cannot skip', chain)
console.log(`
The hook is the real one; only the user and the agent are scripted (dev/demo.mjs). Nothing was published.

Try next, here:
${here.map((words) => `  npm run -s skillrail -- ${words}`).join('\n')}

In a project of yours:
  npm pack --silent --pack-destination ${tmpdir()}     (here)
  npm install --save-dev ${join(tmpdir(), `skillrail-${version}.tgz`)}
  npx skillrail new --rail release`)

function show(title, lines) {
  console.log(`\n${styleText('bold', title)}\n`)
  for (const [who, text] of lines) {
    const name = styleText(colours[who] ?? 'dim', who.padEnd(9))
    console.log(`  ${name}  ${wrapped(text, width - 14).join(`\n${' '.repeat(13)}`)}`)
  }
}
