# One task done by sdcMicro, for peers.py: Rscript benchmarks/peer_sdcmicro.R TASK FOLDER K TIMES
# Prints one line of JSON: CPU seconds of the best of TIMES calls after one that warms up, and the result; masked records
# are written to FOLDER, so that both sides are judged by the same code.
suppressPackageStartupMessages(library(sdcMicro))
words <- commandArgs(trailingOnly = TRUE)
task <- words[1]
folder <- words[2]
k <- as.integer(words[3])
times <- as.integer(words[4])
best <- function(work) {
  work()
  spent <- Inf
  for (run in seq_len(times)) {
    used <- system.time(result <- work())
    spent <- min(spent, used[["user.self"]] + used[["sys.self"]])
  }
  list(seconds = spent, result = result)
}
if (task %in% c("mdav", "census")) {
  points <- read.csv(file.path(folder, paste0(task, ".csv")))
  done <- best(function() microaggregation(points, aggr = k, method = "mdav"))
  masked <- sprintf("%.17g", as.matrix(done$result$mx))
  dim(masked) <- dim(points)
  write.table(masked, file.path(folder, "masked-sdcMicro.csv"), sep = ",", row.names = FALSE, col.names = FALSE, quote = FALSE)
  cat(sprintf('\n{"seconds": %.6f}\n', done$seconds))
} else {
  data <- read.csv(file.path(folder, "coarse.csv"), colClasses = "factor", check.names = FALSE)
  done <- best(function() freqCalc(data, keyVars = 1:8)$fk)
  cat(sprintf('\n{"seconds": %.6f, "value": %d}\n', done$seconds, as.integer(min(done$result))))
}
