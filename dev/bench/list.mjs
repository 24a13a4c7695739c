// Measures `skillrail list` against openskills and the vercel skills CLI. ROUNDS sets the rounds
// (default 5), COUNT the synthetic skills (default 10,000), SKILLRAIL_BIN the command line that is
// measured. Every program gets the same project and a home of its own.
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { interleave, peakMemoryOf } from './_measure.mjs'
import { cachedPackages } from '../cached-packages.mjs'

const root = path.resolve(import.meta.dirname, '../..')
const data = process.env.SKILLRAIL_BENCH ?? path.resolve(root, '../shared/bench')
const generator = path.join(data, 'generate-skills.mjs')
const rounds = Number(process.env.ROUNDS ?? 5)
const count = Number(process.env.COUNT ?? 10_000)
const bin = process.env.SKILLRAIL_BIN ?? path.join(root, 'dist/cli/bin.cjs')
const node = process.execPath

if (!existsSync(bin)) {
  console.log('skipped: dist/ is not built (npm run build)')
  process.exit(0)
}
if (!existsSync(generator)) {
  console.log('skipped: no generator of synthetic skills (SKILLRAIL_BENCH)')
  process.exit(0)
}
const peers = cachedPackages('bench', { openskills: '1.5.0', skills: '1.5.18' })
const base = mkdtempSync(path.join(tmpdir(), 'skillrail-bench-'))
try {
  const project = path.join(base, 'project')
  const home = path.join(base, 'home')
  const empty = path.join(base, 'empty')
  mkdirSync(path.join(project, '.git'), { recursive: true })
  execFileSync(node, [generator, path.join(project, '.claude/skills'), String(count)])
  // A file that was written a moment ago is read again: its clock may be too coarse.
  await new Promise((resolve) => setTimeout(resolve, 3000))
  compare({ cwd: project, env: { HOME: home } }, empty)
} finally {
  rmSync(base, { recursive: true, force: true })
}

function compare(options, empty) {
  const list = [node, bin, 'list', '--json']
  const cold = ['sh', '-c', 'rm -rf "$0"; HOME="$0" exec "$@"', empty, ...list]
  const commands = {
    'node -e 0': [node, '-e', '0'],
    'skillrail list, warm index': list,
    'skillrail list, no index': cold,
    ...(peers === undefined
      ? {}
      : {
          'openskills list': [
            node,
            path.join(peers, 'node_modules/openskills/dist/cli.js'),
            'list',
          ],
          'vercel skills list': [node, path.join(peers, 'node_modules/skills/bin/cli.mjs'), 'list'],
        }),
  }
  const rows = interleave(commands, { base: 'skillrail list, warm index', rounds, ...options })
  console.log(`${count} synthetic skills, ${rounds} rounds, CPU`)
  for (const { name, cpu, ratio } of rows) {
    const memory = peakMemoryOf(commands[name], options)
    const peak = memory === undefined ? '' : `${memory.toFixed(0).padStart(5)} MiB`
    const time = `${cpu.toFixed(0).padStart(6)} ms ${ratio.toFixed(2).padStart(7)} x`
    console.log(`  ${name.padEnd(28)} ${time} ${peak}`)
  }
}
