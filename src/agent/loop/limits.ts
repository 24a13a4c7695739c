/** Characters of one tool's result that the model gets; the rest is left out with a notice. */
export const longestResult = 50_000

/** How often in a row one call may give the same result until the model is told. */
export const repetitionsUntilNotice = 3

/** … and until the run is ended with a summary. */
export const repetitionsUntilEnd = 8

/** Why a run is capped at its turns, as the PRD words it. */
export const maxTurnsExceeded = 'Max turns exceeded'

/** How often a model that answered nothing, or nothing of the asked shape, is asked again. */
export const secondChances = 2
