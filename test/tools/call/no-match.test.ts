import { expect, it } from 'vitest'
import { scriptedProject } from './_scripted.ts'

it('has an error in the JSON of a search without a match', { timeout: 60_000 }, async () => {
  const project = scriptedProject({ read_notes: { description: 'Reads the notes of a day.' } })
  await project.run(['tools', 'refresh'])
  const search = async (...words: string[]) => {
    const { code, stdout } = await project.run(['tools', 'search', ...words, '--json'])
    return [code, JSON.parse(stdout).error?.code]
  }
  expect(await search('xylophone')).toEqual([3, 'tool-not-found'])
  expect(await search('notes')).toEqual([0, undefined])
})
