import ArgumentParser

/// The completions of values that the service knows. They are empty if the service does not answer within two seconds.
extension CompletionKind {
    static let jobIDs = CompletionKind.shellCommand("fetchd list --quiet --limit 50 --patience 2 2>/dev/null")
    static let tokenIDs = CompletionKind.shellCommand("fetchd token list --quiet --patience 2 2>/dev/null")
    static let sessionNames = CompletionKind.shellCommand("fetchd session list --quiet --patience 2 2>/dev/null")
}
