import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { installClients } from './cache.ts'
import { playFirstMinutes } from './first-minutes.ts'
import { isShort } from './short.ts'

const clients = isShort ? (['claude'] as const) : (['claude', 'codex'] as const)
const installed = installClients(clients, { latest: false })
const directory = mkdtempSync(join(tmpdir(), 'skillrail-first-'))
const root = fileURLToPath(new URL('../..', import.meta.url))
execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', directory], {
  cwd: root,
})
const [name = ''] = readdirSync(directory)

afterAll(() => rmSync(directory, { recursive: true, force: true, maxRetries: 3 }))

it.each(clients)(
  'a new user of %s sees a push denied and a failed check, approves, and the version is published',
  async (client) => {
    const program = installed.get(client)
    if (!program) throw new Error(`${client} is not installed`)
    const npmCache = execFileSync('npm', ['config', 'get', 'cache'], { encoding: 'utf8' }).trim()
    const packed = { tarball: join(directory, name), npmCache }
    const { steps, published, denied, kept } = await playFirstMinutes(client, program, packed)
    expect({ published, denied, kept }).toEqual({
      published: ['1.0.0', '1.2.0'],
      denied: true,
      kept: true,
    })
    // What a user reads at once: no command of Skillrail scrolls the screen.
    for (const { typed, lines } of steps.filter(({ typed: words }) =>
      words.startsWith('skillrail'),
    ))
      expect([typed, lines.length <= 24]).toEqual([typed, true])
  },
)
