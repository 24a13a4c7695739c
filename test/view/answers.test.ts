import { afterEach, describe, expect, it } from 'vitest'
import { SkillNotFoundError } from '../../src/skill/errors.ts'
import { openTestView, type TestView } from './_view.ts'
import { textPiece } from '../../src/view/questions.ts'
import { projectSaying, resultOf, runSaying, standing, type Stub } from './project-saying.ts'

let view: TestView | undefined
afterEach(async () => {
  await view?.stop()
  view = undefined
})

async function open(text: string, more: Partial<Stub> = {}): Promise<TestView> {
  view = await openTestView(projectSaying(text, more))
  return view
}

const everyQuestion: readonly (readonly [name: string, question: object])[] = [
  ['project', {}],
  ['overview', {}],
  ['skills', {}],
  ['skill', { id: 'one' }],
  ['skill-text', { id: 'one' }],
  ['match', { prompt: 'x' }],
  ['triggers', {}],
  ['chains', {}],
  ['plan', { id: 'one' }],
  ['runs', { most: 10 }],
  ['run', { id: '0run' }],
  ['tools', {}],
  ['tool', { id: 'one' }],
  ['workflows', {}],
]

describe('every answer', () => {
  it.each(everyQuestion)('shows the hidden parts of a text: %s', async (name, question) => {
    const { ask } = await open('a\u202eb\u{e0041}c\u001b]8;;x\u0007')
    const { status, value } = await ask(name, question)
    expect(status).toBe(200)
    const text = JSON.stringify(value)
    expect(text).toContain(String.raw`a\\u{202e}b\\u{e0041}c\\x1b]8;;x\\x07`)
    expect(text).not.toMatch(/\u202e|\u{e0041}/u)
  })

  it.each(everyQuestion)('masks secrets: %s', async (name, question) => {
    const secret = ['ghp', 'Aa1'.repeat(12)].join('_')
    const { ask } = await open(`x ${secret} y`)
    const { status, value } = await ask(name, question)
    expect(status).toBe(200)
    expect(JSON.stringify(value)).toContain('x [redacted] y')
    expect(JSON.stringify(value)).not.toContain(secret)
  })
})

describe('a question that has no answer', () => {
  it('gets a sentence, a hint, and the status of its kind', async () => {
    const { ask } = await open('x', {
      skill() {
        throw new SkillNotFoundError({
          code: 'skill-not-found',
          message: 'there is no <b>such</b> skill',
          hint: 'Look again.',
        })
      },
      skills: () => Promise.reject(new Error('the disk is gone')),
    })
    const message = 'there is no <b>such</b> skill'
    expect(await ask('skill')).toMatchObject({
      status: 200,
      value: { error: { code: 'skill-not-found', message, hint: 'Look again.' } },
    })
    expect(await ask('skills')).toEqual({
      status: 500,
      value: { error: { code: 'unexpected', message: 'the disk is gone' } },
    })
  })

  it.each([
    ['match', { prompt: 7 }, 'prompt must be a text'],
    ['match', { prompt: { toString: 'x' } }, 'prompt must be a text'],
    ['skill-text', { from: -1 }, 'from must be a whole number from 0'],
    ['skill-text', { from: 1e300 }, 'from must be a whole number from 0'],
    ['skill-text', { id: 'x', from: 0.5 }, 'from must be a whole number from 0'],
  ])('is refused for a field with a wrong value: %s %j', async (name, question, message) => {
    const { ask } = await open('x')
    const { status, value } = await ask(name, question)
    expect(status).toBe(400)
    expect(value).toMatchObject({ error: { code: 'question-malformed', message } })
  })

  it.each([[[]], [[1, 2]], [null]])('takes %j as no fields', async (body) => {
    const { ask } = await open('x')
    expect((await ask('skills', body ?? {})).status).toBe(200)
  })
})

describe('a long text', () => {
  it('comes in pieces that make up the whole', async () => {
    const whole = Array.from({ length: 40_000 }, (_, at) => `line ${at}`).join('\n')
    const { ask } = await open('x', {
      'skill-text': ({ number }) => textPiece(whole, number('from')),
    })
    let [text, from] = ['', 0]
    let pieces = 0
    for (;;) {
      const { value } = await ask('skill-text', { id: 'one', from })
      const piece: { text: string; size: number; next?: number } = value
      expect(piece.text.length).toBeLessThanOrEqual(65_536)
      expect(piece.size).toBe(whole.length)
      text += piece.text
      pieces++
      if (piece.next === undefined) break
      from = piece.next
    }
    expect(text).toBe(whole)
    expect(pieces).toBeGreaterThan(3)
  })

  it('hides a secret that spans two pieces', async () => {
    const secret = ['ghp', 'Zz9'.repeat(12)].join('_')
    const whole = `${'a'.repeat(65_520)} ${secret} b`
    const { ask } = await open('x', {
      'skill-text': ({ number }) => textPiece(whole, number('from')),
    })
    const first = await ask('skill-text', { id: 'one', from: 0 })
    const second = await ask('skill-text', { id: 'one', from: 65_536 })
    expect(JSON.stringify([first, second])).not.toMatch(/ghp_|Zz9/)
  })
})

describe('a run', () => {
  it('is sent without the output of its steps, which has its own request', async () => {
    const log = 'x'.repeat(1_000_000)
    const { ask } = await open('x', runSaying(standing(resultOf([log], 'unit'))))
    const { value } = await ask('run', { id: '0run' })
    expect(JSON.stringify(value).length).toBeLessThan(5000)
    expect(value.attempts[0].steps[0]).toMatchObject({
      log: { size: log.length },
      result: { size: log.length, text: 'x'.repeat(300) },
    })
    const question = { id: '0run', attempt: 1, step: 'unit', part: 'log' }
    const piece = await ask('step-text', question)
    expect(piece.value).toEqual({ text: 'x'.repeat(65_536), size: log.length, next: 65_536 })
  })

  it('has its steps under the names in the page', async () => {
    const { ask } = await open('x', runSaying(standing(resultOf(['a\u202eb']))))
    const step = String.raw`a\u{202e}b`
    const { value } = await ask('run', { id: '0run' })
    expect(value).toMatchObject({ failedFirst: step, attempts: [{ steps: [{ step }] }] })
    const log = await ask('step-text', { id: '0run', attempt: 1, step, part: 'log' })
    expect(log.value).toEqual({ text: step, size: step.length })
  })

  it('has no step of another name', async () => {
    const { ask } = await open('x')
    expect(await ask('step-text', { id: '0run', attempt: 1, step: 'other' })).toMatchObject({
      status: 200,
      value: { error: { code: 'step-not-found' } },
    })
  })
})
