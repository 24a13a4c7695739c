// Measures `skillrail validate` against the npm package skills-ref and against a bare Node.
// ROUNDS sets the rounds (default 5), COUNT the synthetic skills (default 10,000).
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { interleave, peakMemoryOf } from './_measure.mjs'
import { cachedPackages } from '../cached-packages.mjs'

const root = path.resolve(import.meta.dirname, '../..')
const shared = (variable, name) => process.env[variable] ?? path.resolve(root, '../shared', name)
const generator = path.join(shared('SKILLRAIL_BENCH', 'bench'), 'generate-skills.mjs')
const corpus = shared('SKILLRAIL_CORPUS', 'corpus')
const rounds = Number(process.env.ROUNDS ?? 5)
const count = Number(process.env.COUNT ?? 10_000)
const bin = process.env.SKILLRAIL_BIN ?? path.join(root, 'dist/cli/bin.cjs')
const peer = path.join(import.meta.dirname, '_validate-peer.mjs')
const node = process.execPath

if (!existsSync(bin)) {
  console.log('skipped: dist/ is not built (npm run build)')
  process.exit(0)
}
const peers = cachedPackages('bench', { 'skills-ref': '0.1.5' })
const base = mkdtempSync(path.join(tmpdir(), 'skillrail-bench-'))
try {
  if (existsSync(generator)) {
    const skills = path.join(base, 'skills')
    execFileSync(node, [generator, skills, String(count)])
    compare(`${count} synthetic skills`, skills)
    compareOne(path.join(skills, 'one'))
  } else {
    console.log('skipped: no generator of synthetic skills (SKILLRAIL_BENCH)')
  }
  if (existsSync(corpus)) compare('published skills', corpus)
  else console.log('skipped: no published skills (SKILLRAIL_CORPUS)')
} finally {
  rmSync(base, { recursive: true, force: true })
}

function compare(title, folder) {
  const commands = {
    'skillrail --profile reference': [
      node,
      bin,
      'validate',
      folder,
      '--profile',
      'reference',
      '--quiet',
    ],
    'skillrail --profile spec': [node, bin, 'validate', folder, '--quiet'],
    ...(peers === undefined ? {} : { 'npm skills-ref, one process': [node, peer, peers, folder] }),
  }
  const rows = interleave(commands, { base: 'skillrail --profile reference', rounds, cwd: base })
  print(`${title}, ${rounds} rounds`, rows, commands)
}

/** The start of the command line: what one skill costs beside Node itself. */
function compareOne(folder) {
  execFileSync(node, [generator, folder, '1'])
  const commands = {
    'node -e 0': [node, '-e', '0'],
    'skillrail, one skill': [node, bin, 'validate', folder, '--quiet'],
  }
  const rows = interleave(commands, { base: 'node -e 0', rounds: rounds * 3, cwd: base })
  print(`one skill, ${rounds * 3} rounds`, rows, commands)
}

function print(title, rows, commands) {
  console.log(title)
  for (const { name, cpu, ratio } of rows) {
    const memory = peakMemoryOf(commands[name], { cwd: base })
    const peak = memory === undefined ? '' : `${memory.toFixed(0).padStart(5)} MiB`
    console.log(
      `  ${name.padEnd(30)} ${cpu.toFixed(0).padStart(6)} ms ${ratio.toFixed(2).padStart(7)} x ${peak}`,
    )
  }
}
