import ArgumentParser

/// What a shell offers when a value is to be typed; asked of the service, and nothing where it does not answer at
/// once.
extension CompletionKind {
    static let jobIDs = CompletionKind.shellCommand("fetchd list --quiet --limit 50 --patience 2 2>/dev/null")
    static let sessionNames = CompletionKind.shellCommand("fetchd session list --quiet --patience 2 2>/dev/null")
}
