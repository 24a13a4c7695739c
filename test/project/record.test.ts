import { readdirSync, readFileSync } from 'node:fs'
import { homedir, hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { castOf, eventsOf, plainText } from '../../dev/record.mjs'

const size = { columns: 80, rows: 24, title: 'A title' }
const recordings = fileURLToPath(new URL('../../docs/recordings', import.meta.url))

it('cuts the output according to the timing, and never inside a character', () => {
  const tick = Buffer.from('✓')
  const output = Buffer.concat([Buffer.from('Script started\nab'), tick, Buffer.from('c')])
  expect(eventsOf(output, '0.5 2\n0.5 1\n0.5 2\n1.0 1\n')).toEqual([
    [0.5, 'ab'],
    [1.5, '✓'],
    [2.5, 'c'],
  ])
})

it('writes a header and one event in each line, without data of this machine', () => {
  const text = `${join(tmpdir(), 'x')} ${homedir()}/y @${hostname()}`
  const lines = castOf([[0.12345, text]], size)
    .trim()
    .split('\n')
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({ version: 2, width: 80, title: 'A title' })
  expect(JSON.parse(lines[1] ?? '')).toEqual([0.123, 'o', '/x ~/y @host'])
})

it('reproduces the final screen', () => {
  const cast = castOf(
    [
      [0, '\r\u001B[2K… test 1 s'],
      [1, '\r\u001B[2K\u001B[32m✓\u001B[39m test\r\nend'],
    ],
    size,
  )
  expect(plainText(cast)).toBe('✓ test\nend')
})

it.each(readdirSync(recordings))(
  'finds a valid asciicast without paths of a machine in %s',
  (name) => {
    const text = readFileSync(join(recordings, name), 'utf8')
    const [header, ...events] = text.trim().split('\n')
    expect(JSON.parse(header ?? '')).toMatchObject({ version: 2 })
    for (const event of events) expect(JSON.parse(event)).toHaveLength(3)
    expect(text).not.toContain(homedir())
    expect(text).not.toMatch(/\/(?:home|root|Users|tmp|var\/folders)\//)
  },
)
