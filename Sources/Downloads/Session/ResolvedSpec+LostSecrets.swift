/// An attempt of a job whose secrets are lost ends before its first request.
extension ResolvedSpec {
    /// Why the job must wait for its secrets; nil if it has all of them.
    public var lossOfSecrets: Failure? {
        guard !lost.isEmpty || !lostBySession.isEmpty else { return nil }
        var sentences = ["The key that sealed the secrets of this job is lost."]
        let patchable = lost.subtracting([.body])
        if !patchable.isEmpty { sentences.append("Supply them with PATCH: \(patchable.listed).") }
        if lost.contains(.body) {
            sentences.append("Its request body is lost, too: cancel the job and create it again.")
        }
        if !lostBySession.isEmpty { sentences.append("Supply those of its session with PUT: \(lostBySession.listed).") }
        return Failure(.credentialsRequired, sentences.joined(separator: " "))
    }
}
