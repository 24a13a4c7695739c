import { appendFileSync, chmodSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { sha256 } from '../../src/core/json.ts'
import { treeDigest } from '../../src/trust/skill-files.ts'
import { lockedProject } from './_locked-project.ts'

const secret = `export TOKEN=${['ghp', 'a1B2'.repeat(9)].join('_')}\n`

it('shows no diff if the old text seemed to contain a secret', async () => {
  const { cli, write, skill, directory } = lockedProject()
  write(`${skill}/scripts/key.sh`, secret)
  await cli('trust', '--lock', '--yes')
  appendFileSync(join(directory, 'scripts/key.sh'), 'echo more\n')
  const note = 'no diff: the text that was locked was not kept here'
  const check = await cli('trust', '--lock', '--check')
  expect(check.stdout).toContain(`    changed: scripts/key.sh (${note})`)
  const accepted = note.replace('locked', 'accepted')
  const trust = await cli('trust', '--dry-run')
  expect(trust.stdout).toContain(`  changed: script ${skill}/scripts/key.sh (${accepted})`)
  await cli('trust', '--unlock')
  expect((await cli('trust', '--dry-run')).stdout).toContain(accepted)
})

it('shows the target of a changed link, and the reason for an unreadable file', async () => {
  const { cli, directory, skill } = lockedProject()
  await cli('trust', '--yes')
  symlinkSync('../other', join(directory, 'way'))
  writeFileSync(join(directory, 'scripts/bytes'), Buffer.of(0xff, 0))
  const { stdout } = await cli('trust', '--dry-run')
  expect(stdout).toContain(`  added: script ${skill}/way (a link to ../other)`)
  expect(stdout).toContain(`scripts/bytes (no text, or too long to be shown)`)
})

it.skipIf(process.platform === 'win32')(
  'shows that a file became executable, beside its diff',
  async () => {
    const { cli, json, write, skill, directory } = lockedProject()
    write(`${skill}/data.csv`, 'a,b\n')
    await cli('trust', '--lock', '--yes')
    chmodSync(join(directory, 'data.csv'), 0o755)
    const check = await cli('trust', '--lock', '--check')
    expect(check.code).toBe(1)
    expect(check.stdout).toContain('    changed: data.csv (may be executed now)\n')
    appendFileSync(join(directory, 'data.csv'), 'c,d\n')
    expect((await cli('trust', '--lock', '--check')).stdout).toMatch(
      /changed: data\.csv \(may be executed now\)\n[^]*\+c,d/,
    )
    expect(await json('trust', '--lock', '--check')).toMatchObject({
      lock: { changes: [{ files: [{ path: 'data.csv', executable: true }] }] },
    })
  },
)

it.skipIf(process.platform === 'win32')(
  'accepts a lock of version 1, and rewrites it after a confirmation',
  async () => {
    const { cli, write, skill, directory, workspace } = lockedProject()
    const files = Object.fromEntries(
      ['SKILL.md', 'scripts/run.sh'].map((path) => {
        return [path, sha256(readFileSync(join(directory, path), 'utf8'))]
      }),
    )
    const locked = { path: skill, name: 'deploy', digest: treeDigest(Object.entries(files)), files }
    write('.skillrail/skills.lock.json', JSON.stringify({ version: 1, skills: [locked] }))
    await cli('trust', '--yes')
    const check = await cli('trust', '--lock', '--check')
    expect(check.code).toBe(0)
    expect(check.stdout).toContain('It does not say which files of 1 skill may be executed')
    expect(await cli('trust', '--lock')).toMatchObject({ code: 4 })
    expect(await cli('trust', '--lock', '--yes')).toMatchObject({ code: 0 })
    const lock = readFileSync(join(workspace, '.skillrail/skills.lock.json'), 'utf8')
    expect(JSON.parse(lock)).toMatchObject({ version: 2 })
    expect((await cli('trust', '--lock', '--check')).stdout).not.toContain('may be executed')
  },
)

it('trusts nothing if a skill cannot be locked, and names the file', async () => {
  const { cli, directory, skill } = lockedProject()
  symlinkSync('/', join(directory, 'disk'))
  const preview = await cli('trust', '--lock', '--dry-run')
  expect(preview.stdout).toContain('cannot be locked: disk is a link to /, outside the skill')
  const { code, stderr, stdout } = await cli('trust', '--lock', '--yes')
  expect(code).toBe(1)
  expect(stderr).toContain(`${skill}/disk is a link to /, outside the skill`)
  expect(stderr).toContain('put a copy in the place of a link')
  expect(stdout).not.toContain('Trusted')
  expect((await cli('trust', '--list')).stdout).toBe('No workspace is trusted.\n')
})

it('reports a file in the place of .skillrail, instead of a missing lock', async () => {
  const { cli, json, write } = lockedProject()
  await cli('trust', '--yes')
  write('.skillrail', '')
  for (const args of [['--lock', '--check'], [], ['--lock', '--yes']]) {
    const { code, stderr } = await cli('trust', ...args)
    expect(code).toBe(1)
    expect(stderr).toContain('.skillrail is not a directory, so there can be no lock file in it')
    expect(stderr).toContain('put a directory in its place')
  }
  expect(await json('show', '--activate', 'deploy')).toMatchObject({ trustLevel: 'untrusted' })
  expect((await cli('doctor')).stdout).toContain('is not a directory')
  expect(await json('trust', '--unlock')).toMatchObject({ removed: false })
})

it('names the lock that applies to a repository inside a locked project', async () => {
  const { cli, json, write, workspace } = lockedProject()
  await cli('trust', '--lock', '--yes')
  write('inner/.git/HEAD', '')
  write('inner/.claude/skills/own/SKILL.md', '---\nname: own\ndescription: Its own.\n---\n')
  await cli('trust', 'inner', '--yes')
  const lock = join(workspace, '.skillrail/skills.lock.json')
  const words = `the workspace has no lock file of its own, so its skills are held to ${lock}`
  expect((await cli('trust', 'inner')).stderr).toContain(words)
  const check = await cli('trust', 'inner', '--lock', '--check')
  expect(check.code).toBe(1)
  expect(check.stderr).toContain(words)
  expect(await json('list', '-C', join(workspace, 'inner'))).toMatchObject({
    skills: [{ name: 'own', trust: 'untrusted', diagnostics: [{ code: 'lock-drift' }] }],
  })
  expect(await cli('trust', 'inner', '--lock')).toMatchObject({ code: 0 })
  expect((await cli('trust', 'inner')).stderr).toBe('')
})
