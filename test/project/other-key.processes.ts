import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { makeRepository, type Repository } from './_repository.ts'

let repository: Repository
beforeEach(() => {
  repository = makeRepository()
  repository.skills({ ship: { metadata: ['chain: |', '  build'] }, build: { run: 'echo built' } })
  repository.commit()
})
afterEach(() => repository.remove())

it('says that Git has a key, and that its format is not SSH', async () => {
  writeFileSync(join(repository.home, '.gitconfig'), '[user]\nsigningKey = ~/.ssh/key.pub\n')
  await repository.run('run ship')
  const { notes } = await repository.command('runs proof latest')
  expect(notes.join('\n')).toContain('user.signingKey is set, but gpg.format is not ssh')
})
