import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installClients } from './cache.ts'
import { type FirstClient, type FirstMinutes, playFirstMinutes } from './first-minutes.ts'

// Times the first minutes of a new user of Claude Code and of Codex, with an empty npm cache, and prints what
// each step took. Arguments: names of clients; --screens also prints what the user saw.
const words = process.argv.slice(2)
const isClient = (word: string): word is FirstClient => word === 'claude' || word === 'codex'
const named = words.filter(isClient)
const clients = named.length > 0 ? named : (['claude', 'codex'] as const)

const root = fileURLToPath(new URL('../..', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'first-five-minutes-'))
try {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', directory], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [tarball = ''] = readdirSync(directory)
  for (const [name, client] of installClients(clients, { latest: false })) {
    if (!isClient(name)) continue
    const packed = { tarball: join(directory, tarball), npmCache: join(directory, `npm-${name}`) }
    print(`${name} ${client.version}`, await playFirstMinutes(name, client, packed))
  }
} finally {
  rmSync(directory, { recursive: true, force: true, maxRetries: 3 })
}

function print(title: string, { steps, published }: FirstMinutes): void {
  const all = steps.reduce((sum, { seconds }) => sum + seconds, 0)
  console.log(`\n${title}: ${steps.length} lines typed, ${all.toFixed(0)} s of machine time`)
  for (const { typed, seconds, lines } of steps) {
    console.log(
      `  ${seconds.toFixed(1).padStart(6)} s  ${String(lines.length).padStart(3)} lines  ${typed.replace(directory, '')}`,
    )
    if (words.includes('--screens')) console.log(lines.map((line) => `      │ ${line}`).join('\n'))
  }
  console.log(`  on the remote before the approval: ${published[0]}, at the end: ${published[1]}`)
}
