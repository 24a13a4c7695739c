import { type AST, RegExpParser } from '@eslint-community/regexpp'

/** A text that makes an expression try the same again and again: a beginning, many parts, an end. */
export interface Pumped {
  before: string
  part: string
  after: string
}

/** A quantifier that may repeat so often counts as one without end. */
const often = 100

/** What an expression trips over at the end of a run that it went through in vain. */
const ends = ['\u0001', '\n!']

/** What classes are asked for, so that each shows some that it has. */
const letters = Array.from(' \t\n\r0aA_-.,:;/\\"\'`()[]{}<>=!?#$%&*+@^|~é\u200b漢\u0001')

/**
 * Texts to attack an expression with: for each part that repeats, runs of it behind what leads
 * there, and runs of beginnings that come so far and no further.
 */
export function pumpedTexts(pattern: string, flags: string): Pumped[] {
  const parser = new RegExpParser({ ecmaVersion: 2025 })
  const modes = { unicode: flags.includes('u'), unicodeSets: flags.includes('v') }
  const tree = parser.parsePattern(pattern, 0, pattern.length, modes)
  const classes = flags.replaceAll(/[^iuv]/g, '')
  const found = new Map<string, Pumped>()
  const add = (before: string, part: string): void => {
    if (part === '') return
    for (const after of ends) found.set([before, part, after].join('\0'), { before, part, after })
  }
  visit(tree, classes, { leads: [''], tails: [''] }, (quantifier, { leads, tails }) => {
    for (const lead of new Set(leads)) {
      add(lead, lead)
      for (const part of partsOf(quantifier.element, classes)) {
        add(lead, part)
        add(lead, lead + part)
        for (const tail of new Set(tails)) add(lead, part + tail)
      }
    }
  })
  return [...found.values()]
}

/** Texts that lead to a place, and texts that may follow. */
interface Surroundings {
  leads: string[]
  tails: string[]
}

type Visitor = (quantifier: AST.Quantifier, around: Surroundings) => void

/** Every quantifier without end. */
function visit(node: AST.Node, flags: string, around: Surroundings, told: Visitor): void {
  if ('alternatives' in node) {
    for (const each of node.alternatives) visit(each, flags, around, told)
  } else if (node.type === 'Alternative') {
    let { leads } = around
    for (const [at, each] of node.elements.entries()) {
      const rest = node.elements.slice(at + 1)
      const behind = [0, 1].map((one) => rest.map((next) => sample(next, one, flags)).join(''))
      visit(each, flags, { leads, tails: [...behind, ...around.tails] }, told)
      leads = [0, 1].map((one) => (leads[one] ?? leads[0] ?? '') + sample(each, one, flags))
    }
  } else if (node.type === 'Quantifier') {
    if (node.max >= often) told(node, around)
    visit(node.element, flags, around, told)
  }
}

/** Some texts that an element has. */
function partsOf(element: AST.Element, flags: string): Set<string> {
  return new Set([0, 1, 3].map((choice) => sample(element, choice, flags)))
}

/** One text that an element has; where it repeats or chooses, another for each choice. */
function sample(node: AST.Node, choice: number, flags: string): string {
  if (node.type === 'Group' || node.type === 'CapturingGroup') {
    const one = node.alternatives[choice % node.alternatives.length]
    return one === undefined ? '' : sample(one, choice, flags)
  }
  if (node.type === 'Alternative') {
    return node.elements.map((each) => sample(each, choice, flags)).join('')
  }
  if (node.type === 'Quantifier') {
    const times = Math.min(Math.max(node.min, choice === 0 ? 0 : 1), node.max, 40)
    return sample(node.element, choice, flags).repeat(times)
  }
  if (node.type === 'Character') return String.fromCodePoint(node.value)
  if (!/^(?:Expression)?Character(?:Set|Class)$/.test(node.type)) return ''
  const one = new RegExp(`^${node.raw}$`, flags)
  const fitting = letters.filter((letter) => one.test(letter))
  return fitting[(choice * 3) % Math.max(1, fitting.length)] ?? firstOf(node)
}

function firstOf(node: AST.Node): string {
  if (node.type !== 'CharacterClass') return ''
  for (const each of node.elements) {
    if (each.type === 'Character') return String.fromCodePoint(each.value)
    if (each.type === 'CharacterClassRange') return String.fromCodePoint(each.min.value)
  }
  return ''
}
