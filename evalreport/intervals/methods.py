"""What the methods of intervals are, in words, with their sources: for the help of each metric."""

from __future__ import annotations

METHODS = {
    "wilson": "Wilson's score interval of a proportion (Wilson 1927; Newcombe 1998)",
    "delong": "DeLong's variance (DeLong et al. 1988) in Newcombe's score interval of the AUC (2006, method "
    "5), with Student's t, moderated by the model's variance (Smyth 2004)",
    "exact under separation": "the AUC at which a ranking without a mistake has probability 2.5%, in "
    "Hanley & McNeil's model (Lehmann 1953)",
    "newcombe": "square-and-add of Wilson's limits of both rates (Newcombe 1998, method 10) at the best "
    "threshold, less what resamples exceed the sample by",
    "dirichlet": "quantiles of draws of the counts under Jeffreys' prior, Dirichlet(1/2)",
    "smoothed bootstrap": "score interval about the value less its bias, both from draws of the confusion "
    "matrix with one row more per class; of averages it stands off as Wilson's limits of the classes do that "
    "make the variance (Price & Bonett 2004); classes without a value by two stages of sampling (Cochran "
    "1977)",
    "smoothed bootstrap by row": "the same from the counts of each label, and what rows vary together from "
    "their influence",
    "score of each class": "limits of each class that may be the most frequent, the extreme of them, as "
    "far below as the noise of several about equal puts the greatest above: of counts by their mid-P values, "
    "of differences by normal draws (Andrews & Soares 2010; Romano, Shaikh & Wolf 2014)",
    "influence": "infinitesimal jackknife (Jaeckel 1972; Efron 1982), Student's t, on the logit or the log, "
    "of the area under one curve as a score interval; losses lend from the variance that the probabilities "
    "promise, averages of areas stand off as those of the classes do",
    "influence over folds": "the mean over folds, from the influence of each row on the value of its own "
    "fold (LeDell, Petersen & van der Laan 2015; Bayle et al. 2020), Student's t, on the logit or the log",
    "t": "Student's t of a mean over rows, as a score interval where the range has two ends",
    "test inversion over groups": "the lower end by scaling how far the groups "
    "lie apart; the upper that of the two groups furthest apart, by MOVER (Zou & Donner 2008)",
    "test inversion": "the truths whose draws have the value seen within 95% of them: the central ones, "
    "near the end of the range the likeliest (Feldman & Cousins 1998), and above alone where noise adds so "
    "much to an error that no sample falls short of its truth",
    "bayesian bootstrap at the crossing": "draws of where the curve crosses the limit and of the curve there "
    "(Rubin 1981), with half a row beyond each end, and both tails on the one side on which the truth can be "
    "missed there; of tied scores each step as far as its own chance leaves; where a precision is crossed by "
    "inverting its score test, where it is read at any threshold between two positives (Hettmansperger & "
    "Sheather 1986)",
    "posterior at the crossing, clusters": "the same, each class counted as its effective number of rows "
    "(Kish 1965; Korn & Graubard 1998), of a precision the ratio of both given the recall",
    "posterior at the crossing, weighted rows": "the same, each class counted as its effective number of "
    "rows (Kish 1965; Korn & Graubard 1998), of a precision the ratio of both given the recall",
    "cluster jackknife": "groups left out one by one (MacKinnon, Nielsen & Webb 2023) with Satterthwaite's "
    "degrees of freedom",
    "cluster bootstrap": "groups drawn whole with replacement; from 101 groups on",
    "poisson bootstrap": "rows drawn with Poisson(1) counts, the error that of the jackknife (MacKinnon & "
    "White 1985) with Satterthwaite's degrees of freedom",
}
"""By the name of the method, as it stands beside each estimate."""
