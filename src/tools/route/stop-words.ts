/** Grammar: words that are never scored, compared before stemming. */
export const stopWords: ReadonlySet<string> = new Set(
  [
    'a an the this that these those it its itself there here',
    'i me my mine myself you your yours yourself we us our ours ourselves they them their theirs',
    'he him his she her hers who whom whose which what when where why how',
    'is are was were be been being am do does did doing done have has had having',
    'can could shall should will would may might must ought',
    'to of in on for at by from with without into onto upon over under within between among',
    'about around as than then so such very too also just only even still yet again ever',
    'and or but if because while although though unless until since whether nor either neither both',
    'not no any some all each every many much more most few less least other another same own',
    'im ive id ill dont cant don doesn didn isn aren couldn wouldn won t s ve re ll d m',
  ]
    .join(' ')
    .split(' '),
)

/**
 * The manners of asking, and what every second tool says of itself: scored, but little. Verbs that
 * tools are named after (find, show, create) are not here.
 */
export const weakWords: ReadonlySet<string> = new Set(
  [
    'please kindly thanks thank hello hi hey dear ok okay yes well',
    'want wants wanted need needs needed like likes looking help helps helping able let lets',
    'wondering wonder hoping trying try tell know give gave given take make sure using use used uses',
    'get gets getting got come coming',
    'something anything everything someone anyone thing things way ways kind sort lot lots bit',
    'really quite maybe perhaps possible possibly currently now soon right good best better great',
    'assist assistance provide provides provided providing specific specifically particular certain various different',
    'including based regarding related relevant latest recent recently out up down off',
    'tool tools api user users information',
  ]
    .join(' ')
    .split(' '),
)
