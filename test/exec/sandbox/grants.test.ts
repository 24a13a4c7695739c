import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { parseGrants } from '../../../src/exec/sandbox/grants.ts'

const base = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-grants-')))
afterAll(() => rmSync(base, { recursive: true, force: true }))
for (const path of ['data/deep', 'home/.local/state/skillrail', 'config']) {
  mkdirSync(join(base, path), { recursive: true })
}
writeFileSync(join(base, 'data/file'), '')
writeFileSync(join(base, 'data/a:b'), '')
symlinkSync('/', join(base, 'data/root'))
symlinkSync('/proc/self', join(base, 'data/process'))
symlinkSync(join(base, 'home/.local/state'), join(base, 'data/state'))

const fixture = {
  cwd: base,
  home: join(base, 'home'),
  env: { TOKEN: 'value', LD_PRELOAD: 'x', SKILLRAIL_RUN_ID: '1', CUT: 'a\0b' },
  guarded: [join(base, 'home/.local/state/skillrail')],
}
const parse = (...texts: string[]): ReturnType<typeof parseGrants> => parseGrants(texts, fixture)

it('reads every kind of grant, and resolves the links of paths', () => {
  expect(
    parse('read:data', 'write:data/deep', 'read:~', 'read:data/a:b', 'net:*', 'env:TOKEN'),
  ).toEqual({
    grants: {
      read: [join(base, 'data'), join(base, 'home'), join(base, 'data/a:b')],
      write: [join(base, 'data/deep')],
      network: true,
      environment: { TOKEN: 'value' },
    },
    problems: [],
  })
})

describe('an invalid grant', () => {
  it.each([
    ['', /is empty/],
    ['read:', /is empty/],
    ['data', /not a known kind/],
    ['execute:data', /not a known kind/],
    ['read:gone', /cannot be used/],
    ['read:a\0b', /NUL/],
    ['read:/', /sandbox creates itself/],
    ['read:data/root', /sandbox creates itself/],
    ['read:data/../../../../../../..', /sandbox creates itself/],
    ['read:/proc/self/root', /sandbox creates itself/],
    ['read:data/process', /sandbox creates itself/],
    ['read:/proc', /sandbox creates itself/],
    ['read:/dev/null', /sandbox creates itself/],
    ['read:/sys', /sandbox creates itself/],
    ['read:/tmp', /sandbox creates itself/],
    ['write:/usr', /belongs to the system/],
    ['write:/etc/hostname', /belongs to the system/],
    ['write:home', /where trust is kept/],
    ['write:data/state', /where trust is kept/],
    ['write:home/.local/state/skillrail', /where trust is kept/],
    ['net:example.org', /can restrict the network to one host/],
    ['env:MISSING', /is not set/],
    ['env:CUT', /is not set/],
    ['env:LD_PRELOAD', /sets or leaves out/],
    ['env:SKILLRAIL_RUN_ID', /sets or leaves out/],
    ['env:PATH', /sets or leaves out/],
    ['env:A=B', /not a variable name/],
    ['env:__proto__', /is not set/],
  ])('is refused: %j', (text, message) => {
    const { grants, problems } = parse(text)
    expect(problems).toMatchObject([{ grant: text, message: expect.stringMatching(message) }])
    expect(grants).toEqual({ read: [], write: [], network: false, environment: {} })
  })
})

it('grants only real paths that keep the sandbox intact, for any text', () => {
  const pieces = fc.constantFrom(
    '..',
    '.',
    '/',
    '//',
    'data',
    'root',
    'process',
    'state',
    'home',
    'file',
    'proc',
    'self',
    'etc',
    'usr',
    'tmp',
    'work',
    '~',
    '\0',
    '\n',
    ' ',
    ':',
    '*',
    '-',
    '--bind',
    'deep',
  )
  const path = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join('/'))
  const kind = fc.constantFrom('read:', 'write:', 'net:', 'env:', '')
  const text = fc.oneof(
    fc.tuple(kind, path).map(([a, b]) => a + b),
    fc.string(),
  )
  fc.assert(
    fc.property(fc.array(text, { maxLength: 5 }), (texts) => {
      const { grants, problems } = parseGrants(texts, fixture)
      for (const granted of [...grants.read, ...grants.write]) {
        expect(isAbsolute(granted) && realpathSync(granted) === granted).toBe(true)
        expect(granted).not.toMatch(/^\/$|^\/tmp$|^\/(?:proc|sys|dev)(?:\/|$)/)
      }
      for (const granted of grants.write) {
        expect(granted).not.toMatch(/^\/(?:usr|etc)(?:\/|$)/)
        expect(`${fixture.guarded[0]}/`.startsWith(`${granted}/`)).toBe(false)
      }
      expect(problems.every(({ message, hint }) => message !== '' && hint !== '')).toBe(true)
    }),
    { numRuns: 2000 },
  )
})
