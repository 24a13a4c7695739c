import { describe, expect, it } from 'vitest'
import { fitInputs, inputForms, inputPieces } from '../../../src/tools/parameters/input-forms.ts'
import { findSlots } from '../../../src/tools/parameters/slots.ts'
import { catalogue } from './catalogue.ts'

const text = { type: 'string' }
const number = { type: 'number' }

function formsOf(properties: object, required: string[]): string {
  return inputForms(JSON.parse(JSON.stringify({ type: 'object', properties, required })))
}

function fit(forms: string, request: string): ReturnType<typeof fitInputs> {
  return fitInputs(forms, inputPieces(findSlots(request)))
}

describe('what a tool takes', () => {
  it.each([
    ['two numbers', { a: number, b: number }, ['a', 'b'], 'nn|'],
    [
      'a repository, and perhaps a word',
      { owner: text, repo: text, state: text },
      ['owner', 'repo'],
      'rr|t',
    ],
    ['an address or a path', { url: text, filePath: text }, ['url'], 'u|p'],
    ['a list of objects', { items: { type: 'array', items: { type: 'object' } } }, ['items'], 'o|'],
    ['a list of paths', { paths: { type: 'array', items: text } }, ['paths'], 'P|'],
    ['a flag and a choice', { on: { type: 'boolean' }, as: { enum: ['png'] } }, [], '|cc'],
    ['anything, without types', { size: {} }, [], '|t'],
  ])('%s', (_, properties, required, forms) => {
    expect(formsOf(properties, required)).toBe(forms)
  })

  it('is nothing of a schema that has no properties', () => {
    expect(inputForms({})).toBe('|')
  })
})

describe('the pieces of a request', () => {
  it('fill what is required before what is not', () => {
    expect(fit('n|n', 'page 2')).toMatchObject({ filled: { required: 1, others: 0 }, spare: 1 })
  })

  it('have no place where a tool takes other pieces', () => {
    expect(fit('u|', 'add 3 and 4')).toMatchObject({ homeless: 2, open: { said: 1 } })
  })

  it('have a place in any text, and in a list as many as there are', () => {
    expect(fit('t|', 'add 3 and 4')).toMatchObject({ homeless: 0, open: { worded: 0 } })
    expect(fit('P|', 'read a.md, b.md and c.md')).toMatchObject({ homeless: 0 })
  })

  it('are an owner and a name, or a path, where they are of two words', () => {
    expect(fit('rr|', 'PRs of octo/hello')).toMatchObject({ filled: { required: 2 }, homeless: 0 })
    expect(fit('p|', 'list octo/hello')).toMatchObject({ filled: { required: 1 }, homeless: 0 })
  })

  it('are two numbers in a size', () => {
    expect(fit('nn|', 'resize it to 800x600')).toMatchObject({ filled: { required: 2 } })
  })

  it('leave open what another tool may give', () => {
    const { click } = catalogue
    if (click === undefined) throw new Error('the catalogue has no click')
    const { open } = fit(inputForms(click.inputSchema), 'click 1_4')
    expect(open).toEqual({ said: 0, worded: 0, given: 1 })
  })
})
