/** Pieces of frontmatter that YAML readers disagree about, joined with `¦`. */
const keysText = [
  'name¦description¦license¦compatibility¦metadata¦allowed-tools¦name¦description',
  'triggers¦chain¦match¦a¦b-c¦a.b¦1¦true¦null¦~¦x y¦"q"¦\'s\'¦<<¦=¦Name¦-a¦?a¦:a¦é¦名前',
  '"a\\tb"¦¦a:b¦a#b¦__proto__¦!t¦&a¦*a¦[a]¦{a: b}¦@a¦|¦>',
]
export const keys: readonly string[] = keysText.join('¦').split('¦')

const wordsText = [
  'a¦b¦some words here¦Use when: needed¦C# code¦a #b¦a # comment¦1.10¦true¦null¦~¦',
  '"quoted"¦\'single\'¦"a: b"¦\'it\'\'s\'¦"esc \\n \\" \\t"¦"bad \\q"¦"open¦\'open¦"a" b',
  '\'a\' # c¦"a"#c¦- x¦-x¦? x¦?x¦: x¦:x¦|¦>¦|-¦>-¦|+¦>+¦|2¦>1-¦|0¦| # c¦|x¦[a, b]¦[a¦a]',
  '{a: b}¦{¦[]¦{}¦["a", \'b\']¦[a: b]¦[a, [b]]¦[a,]¦&a b¦*a¦!t b¦!!str b¦%a¦@a¦`a`¦,a',
  'a,b¦x: y¦x:¦x:y¦http://a.b/c#d¦<<¦=¦...¦0x1f¦0o17¦1e3¦.5¦.inf¦.nan¦+1¦-1¦2024-01-01¦é',
  '名前¦😀¦a\tb¦\ta¦a\t¦\t¦a\u00a0b¦\u00a0¦a\u0085b¦a\u2028b¦\ufeffa¦a\u200bb¦\u0007',
  '😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀😀¦a  b¦a ¦"\\u00e9"',
  '"\\ud83d\\ude00"¦"\\x41"¦"\\U00110000"¦"a\\¦Bash(git:*) Read¦$ARGUMENTS¦(a)¦/a/b¦.a',
  '"a\\/b"¦a - b¦a -- b¦İ¦ß¦ﬁ¦ａ¦\u00bd¦A¦a-¦-a¦a--b¦a b¦a_b',
]
export const words: readonly string[] = wordsText.join('¦').split('¦')

const loneLinesText = [
  '¦¦ ¦  ¦    ¦# c¦  # c¦    # c¦\t¦...¦%YAML 1.2¦- a¦  - a¦- a: b¦  - a: b¦    c: d¦-¦  -',
  '- - a¦? a¦: b¦? - a¦word¦  word¦    more words¦  "q"¦"q": r¦\ufeff¦#¦  word # c',
  '  word: ¦   - x¦  -  a: b¦     c: d¦[a]¦  [a]¦-a¦  x # y¦\u0085¦  a: |¦      deep',
  '  \'multi¦  end\'¦  "multi¦  end"¦  end" # c¦a: "x¦b: \'y',
]
export const loneLines: readonly string[] = loneLinesText.join('¦').split('¦')
