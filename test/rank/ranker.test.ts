import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { indexDocuments, type RankDocument, type RankIndex } from '../../src/rank/index.ts'
import { prepareRanker, rankerOf } from '../../src/rank/ranker.ts'
import { comparedWords, properNames } from '../../src/rank/words.ts'

function document(name: string, text: string, examples: readonly string[] = []): RankDocument {
  const fields = [
    { kind: 'name', text: name, weight: 3 },
    { kind: 'description', text, weight: 1 },
  ]
  return { id: name, name, fields, examples: examples.map((example) => ({ text: example })) }
}

const documents = [
  document(
    'make-chart',
    'Draws charts from tables. For maps see draw-map, for prose see write-text.',
    ['plot the sales of last year', 'show revenue as bars'],
  ),
  document('draw-map', 'Shows places.', ['where are our customers']),
  document('write-text', 'Edits reports and letters.'),
  document('send-mail', 'Sends messages to customers.', ['mail the invoice to the customer']),
]

const vocabulary = documents.flatMap(({ name, fields, examples = [] }) =>
  [name, ...fields.map(({ text }) => text), ...examples.map(({ text }) => text)]
    .join(' ')
    .split(' '),
)
const sentence = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc
    .array(fc.constantFrom(...vocabulary, 'Boomi', 'unknown'), { maxLength: 15 })
    .map((words) => words.join(' ')),
)

describe('examples of prompts', () => {
  const word = fc.constantFrom(
    'alpha',
    'bravo',
    'delta',
    'gamma',
    'kilo',
    'lima',
    'omega',
    'sigma',
    'tango',
    'zulu',
  )
  const words = fc.uniqueArray(word, { minLength: 1, maxLength: 5 })
  const filler = Array.from({ length: 12 }, (_, at) =>
    document(`other-${at}`, `Handles matter${at}.`),
  )
  const scoreOf = (list: readonly RankDocument[], id: string, text: string) =>
    prepareRanker(list)(text).ranked.find((one) => one.id === id)?.score ?? 0

  it('do not count if they share only grammar with the prompt', () => {
    const grammar = fc.array(fc.constantFrom('can', 'you', 'please', 'the', 'with', 'from'), {
      minLength: 1,
      maxLength: 6,
    })
    fc.assert(
      fc.property(words, grammar, words, grammar, (text, example, prompt, rest) => {
        const list = [
          document('first', text.join(' '), [`${example.join(' ')} unheard`]),
          ...filler,
        ]
        const { ranked } = prepareRanker(list)(`${prompt.join(' ')} ${rest.join(' ')}`)
        const kinds = ranked.flatMap(({ parts }) => parts.map(({ kind }) => kind))
        expect(kinds).not.toContain('example')
        expect(kinds).not.toContain('examples')
      }),
    )
  })

  it('never lower the score of their document', () => {
    fc.assert(
      fc.property(
        words,
        fc.array(words, { minLength: 1, maxLength: 6 }),
        words,
        (text, examples, prompt) => {
          const make = (list: readonly string[]) => [
            document('first', text.join(' '), list),
            ...filler,
          ]
          const sentences = examples.map((example) => example.join(' '))
          const without = scoreOf(make([]), 'first', prompt.join(' '))
          expect(scoreOf(make(sentences), 'first', prompt.join(' '))).toBeGreaterThanOrEqual(
            without - 0.001,
          )
        },
      ),
    )
  })

  it('count less if they are long', () => {
    fc.assert(
      fc.property(word, fc.integer({ min: 2, max: 20 }), (shared, length) => {
        const rest = Array.from({ length }, (_, at) => `thing${at}`).join(' ')
        const list = [
          document('brief', 'Handles work.', [`${shared} first`]),
          document('long', 'Handles work.', [`${shared} ${rest}`]),
          ...filler,
        ]
        const prompt = `${shared} unheard words`
        expect(scoreOf(list, 'brief', prompt)).toBeGreaterThan(scoreOf(list, 'long', prompt))
      }),
    )
  })
})

it('counts for prompts how many documents have a word, not how many sentences', () => {
  const body = (at: number) =>
    Array.from({ length: 60 }, (_, row) => `Sentence ${row} says part${at}${row}.`)
  const many = Array.from({ length: 20 }, (_, at) =>
    document(`other-${at}`, [...body(at), 'A report ends it.'].join('\n')),
  )
  const rare = document('rare', Array.from({ length: 40 }, () => 'It keeps the ledger.').join('\n'))
  const common = document('common', 'Report.')
  const { words } = prepareRanker([...many, rare, common])('report ledger')
  const weightOf = (name: string) => words.find(({ word }) => word === name)?.weight ?? 0
  expect(weightOf('ledger')).toBeGreaterThan(weightOf('report'))
})

describe('the ranker', () => {
  const rank = prepareRanker(documents)

  it('is a pure function', () => {
    fc.assert(
      fc.property(sentence, (text) => {
        expect(rank(text)).toEqual(rank(text))
      }),
    )
  })

  it('does not depend on the order of the documents', () => {
    const shuffled = fc.shuffledSubarray(documents, { minLength: documents.length })
    fc.assert(
      fc.property(sentence, shuffled, (text, others) => {
        expect(prepareRanker(others)(text)).toEqual(rank(text))
      }),
    )
  })

  it('orders by scores that are the sums of their parts, and gives a probability', () => {
    fc.assert(
      fc.property(sentence, (text) => {
        const { ranked, probability } = rank(text)
        expect(probability).toBeGreaterThanOrEqual(0)
        expect(probability).toBeLessThanOrEqual(1)
        expect(ranked.map(({ score }) => score)).toEqual(
          ranked.map(({ score }) => score).toSorted((a, b) => b - a),
        )
        for (const { score, parts } of ranked) {
          expect(parts.reduce((sum, part) => sum + part.score, 0)).toBeCloseTo(score, 2)
        }
      }),
    )
  })

  it('takes any documents', () => {
    const text = fc.string({ unit: 'binary', maxLength: 60 })
    const weight = fc.double({ min: 0.1, max: 3, noNaN: true })
    const field = fc.record({ kind: text, text, weight })
    const example = fc.record({ text, wrong: fc.boolean() })
    const any = fc.record({
      id: text,
      name: text,
      fields: fc.array(field, { maxLength: 3 }),
      examples: fc.array(example, { maxLength: 3 }),
    })
    fc.assert(
      fc.property(fc.array(any, { maxLength: 6 }), text, (given, asked) => {
        const { ranked, probability } = prepareRanker(given)(asked)
        expect(Number.isFinite(probability)).toBe(true)
        expect(ranked.every(({ score }) => Number.isFinite(score))).toBe(true)
      }),
    )
  })
})

describe('words of one stem', () => {
  it.each([
    ['news', 'new'],
    ['general', 'generate'],
    ['community', 'communicate'],
  ])('are not %s and %s', (one, other) => {
    const rank = prepareRanker([document('a', one), document('b', other)])
    expect(rank(one).ranked.map(({ id }) => id)).toEqual(['a'])
    expect(rank(other).ranked.map(({ id }) => id)).toEqual(['b'])
  })

  it('are those that differ in number or tense', () => {
    const rank = prepareRanker([document('a', 'deletes old branches'), document('b', 'news')])
    expect(rank('deleted branch').ranked.map(({ id }) => id)).toEqual(['a'])
  })
})

it('does not count a word as common because details of documents contain it', () => {
  const detail = { kind: 'detail', text: 'stamp', weight: 0.01, isDetail: true }
  const plain = [document('a', 'stamp'), document('b', 'ink'), document('c', 'pen')]
  const detailed = plain.map((one) => ({ ...one, fields: [...one.fields, detail] }))
  const [first] = prepareRanker(detailed)('stamp').words
  expect(first).toEqual(prepareRanker(plain)('stamp').words[0])
})

it('counts the documents of one owner as one for the rarity of the owner', () => {
  const owned = ['open', 'close', 'merge', 'label'].map((verb) => {
    const { fields, ...one } = document(verb, `${verb}s an item of acme`)
    return {
      ...one,
      fields: [...fields, { kind: 'owner', text: 'Acme', weight: 1, isShared: true }],
    }
  })
  const filler = Array.from({ length: 120 }, (_, at) => document(`d${at}`, `word${at} item`))
  const weightOf = (asked: string): number =>
    prepareRanker([...owned, ...filler])(asked).words[0]?.weight ?? 0
  expect(weightOf('acme')).toBe(weightOf('merge'))
  expect(weightOf('acme')).toBeGreaterThan(weightOf('item'))
})

describe('a search', () => {
  const idsFor = (one: readonly RankDocument[], asked: string, isSearch: boolean): string[] =>
    prepareRanker(one, { isSearch })(asked).ranked.map(({ id }) => id)

  it('also finds words with nearly the same stem, behind the words themselves', () => {
    const logs = [document('a', 'Analyzes logs.'), document('b', 'Shows the analysis of costs.')]
    expect(idsFor(logs, 'analysis', true)).toEqual(['b', 'a'])
    expect(idsFor(logs, 'analysis', false)).toEqual(['b'])
  })

  it.each([
    ['form', 'format'],
    ['news', 'new'],
    ['plan', 'planet'],
  ])('does not take %s for %s', (one, other) => {
    expect(idsFor([document('a', one), document('b', other)], one, true)).toEqual(['a'])
  })

  it.each([
    ['web hook', 'Lists each webhook.'],
    ['webhook', 'Lists each web hook.'],
    ['boxplots', 'Draws a box plot.'],
    ['box plot', 'Draws a boxplot.'],
  ])('finds a word that is written as one or as two: %s', (asked, text) => {
    const all = [document('a', 'Sends letters.'), document('b', text)]
    expect(idsFor(all, asked, true)).toEqual(['b'])
    expect(idsFor(all, asked, false)).toEqual([])
  })

  it.each([
    ['web hook', 'webhook'],
    ['webhook', 'web hook'],
  ])('explains a word that is written as one or as two by both forms: %s', (asked, text) => {
    const [first] = prepareRanker([document('a', text)], { isSearch: true })(asked).ranked
    const parts = first?.parts.filter(({ kind }) => kind !== 'letters') ?? []
    expect(parts.map((part) => part.text)).toEqual([`${asked} (${text})`])
  })

  it('prefers a word in the same form, and says so', () => {
    const boards = [document('a', 'Shows the board.'), document('b', 'Shows the boards.')]
    const [first, second] = prepareRanker(boards, { isSearch: true })('boards').ranked
    expect([first?.id, second?.id]).toEqual(['b', 'a'])
    expect(first?.parts.map(({ text }) => text)).toContain('boards (exact)')
    const [prompted, otherPrompted] = prepareRanker(boards)('boards').ranked
    expect(prompted?.score).toBe(otherPrompted?.score)
  })

  it.each([
    ['save a screenshot', 'save a snapshot'],
    ['show the geolocation', 'show the location'],
    ['events of the stratosphere', 'events of the atmosphere'],
  ])('prefers words that look like those of the request: %s', (asked, text) => {
    const [verb = ''] = text.split(' ')
    const all = [document('a', `${verb} the parcels`), document('b', text)]
    expect(idsFor(all, asked, false)).toEqual(['a', 'b'])
    expect(idsFor(all, asked, true)).toEqual(['b', 'a'])
  })

  it('finds nothing by letters alone', () => {
    const music = [document('a', 'Plays music.'), document('b', 'Draws maps.')]
    expect(idsFor(music, 'musician', true)).toEqual(idsFor(music, 'musician', false))
  })

  it.each([
    ['数据', '数字信息'],
    ['茶', '绿茶'],
  ])('finds words that share a character in a script without blanks: %s', (asked, text) => {
    const all = [document('a', '火车'), document('b', text)]
    expect(idsFor(all, asked, true)).toEqual(['b'])
    expect(idsFor(all, asked, false)).toEqual([])
  })

  it('prefers a whole word to single characters in a script without blanks', () => {
    const all = [document('a', '数字 火车'), document('b', '数据 火车')]
    expect(idsFor(all, '数据', true)).toEqual(['b', 'a'])
  })

  it.each(['branch create', 'create a protected branch'])(
    'counts neighbours of a document in another order and with a word between: %s',
    (asked) => {
      const text = 'Sets protected rules.'
      const branches = [
        document('a', 'Creates a release for each branch. Merges it.'),
        document('b', 'Creates a branch for each release. Merges it.'),
      ]
      const all = [...branches, document('c', text), document('d', 'Deletes tags.')]
      expect(idsFor(all, asked, true)[0]).toBe('b')
      const [first, second] = prepareRanker(all)(asked).ranked
      expect(first?.score).toBe(second?.score)
    },
  )
})

describe('what a sentence says of another document', () => {
  const rank = prepareRanker(documents)

  it.each([
    ['maps', 'draw-map'],
    ['prose', 'write-text'],
    ['charts', 'make-chart'],
  ])('counts for that one: %s means %s', (word, id) => {
    expect(rank(word).ranked[0]?.id).toBe(id)
  })
})

describe('the probability', () => {
  const rank = prepareRanker(documents)
  const sure = (text: string): number => rank(text).probability

  it('is 1 for an example word for word', () => {
    expect(sure('Plot the sales, of last year!')).toBe(1)
  })

  it('falls with each proper name that the first lacks, and says which they are', () => {
    const prompt = 'please plot the sales of this year as a chart'
    expect(rank(`${prompt} in Grafana`).missing).toEqual(['Grafana'])
    expect(sure(`${prompt} in Grafana`)).toBeLessThan(sure(`${prompt} in grafana`))
    expect(sure(`${prompt} in Grafana and Kibana`)).toBeLessThan(sure(`${prompt} in Grafana`))
  })

  it('falls with words that no document has', () => {
    expect(sure('plot the sales of zebras')).toBeLessThan(sure('plot the sales'))
  })
})

it('counts capitals inside of sentences as proper names, not those that begin one', () => {
  expect(properNames('Build a Boomi connector. Then test it.\nDeploy to Azure, and (AWS)')).toEqual(
    ['Boomi', 'Azure'],
  )
})

describe('a hostile sentence', () => {
  const mebibyte = 1024 * 1024
  it.each([
    ['one letter', 'a'.repeat(mebibyte)],
    ['capitals', 'A B'.repeat(mebibyte / 4)],
    ['humps', 'aB'.repeat(mebibyte / 2)],
    ['names', 'make-chart '.repeat(mebibyte / 11)],
    ['half a character', '\ud800'.repeat(mebibyte / 2)],
    ['one word', 'chart '.repeat(mebibyte / 6)],
    ['objects', '__proto__ constructor toString'],
  ])('of %s is ranked, also as the text and the example of a document', (_name, text) => {
    const rank = prepareRanker([...documents, document('other', text, [text])])
    expect(Number.isFinite(rank(text).probability)).toBe(true)
    expect(rank('where are our customers').ranked[0]?.id).toBe('draw-map')
  })

  it('is looked up in a number of steps that grows with its length, not faster', () => {
    const { catalogue, terms, words, examples } = indexDocuments(documents)
    let steps = 0
    const index: RankIndex = {
      catalogue,
      term: (term) => {
        steps++
        return terms.get(term)
      },
      wordsBy: (letter) => words.get(letter) ?? [],
      example: (number) => examples[number],
    }
    const stepsOf = (length: number): number => {
      steps = 0
      rankerOf(index)(Array.from({ length }, (_, at) => `w${at} Chart${at}`).join(' '))
      return steps
    }
    expect(stepsOf(4000) / stepsOf(1000)).toBeLessThan(4.2)
  })
})

it('compares a script without blanks by pairs of characters, and other text by words', () => {
  expect(comparedWords('整理文件, sort 文 Files')).toEqual([
    '整理',
    '理文',
    '文件',
    'sort',
    '文',
    'files',
  ])
})
