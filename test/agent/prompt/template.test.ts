import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PromptTemplateError } from '../../../src/agent/errors.ts'
import { promptText } from '../../../src/agent/prompt-template.ts'

describe('promptText', () => {
  it('does not change plain text', () => {
    expect(promptText('Say {{nothing}}.')).toBe('Say {{nothing}}.')
  })

  it.each([
    ['Review {{language}}.', { language: 'Rust' }, 'Review Rust.'],
    ['{{ a }}{{a}}{{b}}', { a: 1, b: true }, '11true'],
    ['\\{{a}} is {{a}}', { a: 'x' }, '{{a}} is x'],
    ['{{a}}', { a: '{{b}}', b: 'no' }, '{{b}}'],
    ['{{a}}', { a: '$& $1' }, '$& $1'],
    ['a } } { b }}', {}, 'a } } { b }}'],
  ])('renders %j', (template, variables, text) => {
    expect(promptText({ template, variables })).toBe(text)
  })

  it('names every variable without a value, and the nearest name', () => {
    const render = (template: string): string =>
      promptText({ template, variables: { language: 'Rust' } })
    expect(() => render('{{a}} {{b}} {{a}}')).toThrow(
      'The prompt template needs {{a}}, {{b}}, which has no value.',
    )
    const failure = thrown(() => render('{{langauge}}'))
    expect(failure).toBeInstanceOf(PromptTemplateError)
    expect(failure).toMatchObject({ hint: 'Did you mean language?', exitCode: 2 })
  })

  it.each(['{{', 'x\n{{ }}', '{{a', '{{a b}}', '{{1}}'])(
    'refuses the placeholder in %j',
    (template) => {
      expect(() => promptText({ template, variables: { a: 1 } })).toThrow(/has \{\{ without a name/)
    },
  )

  it('does not take inherited names for variables', () => {
    expect(() => promptText({ template: '{{toString}}', variables: {} })).toThrow(/no value/)
  })

  it('inserts any value unchanged', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (before, value) => {
        const safe = before.replaceAll('{', '(').replaceAll('\\', '/')
        expect(promptText({ template: `${safe}{{v}}`, variables: { v: value } })).toBe(safe + value)
      }),
    )
  })
})

function thrown(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    return error
  }
  throw new Error('nothing was thrown')
}
