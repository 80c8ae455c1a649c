/// Formats a token for the terminal.
enum TokenDescription {
    /// - Parameter onlySecret: prints nothing else, for scripts.
    static func show(_ answer: Answer, onlySecret: Bool, _ console: Console) throws {
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        let token = try answer.document(TokenDocument.self)
        if onlySecret { return try console.print(token.token ?? "") }
        var sheet = Sheet()
        sheet.add("token", token.id)
        sheet.add("name", token.name)
        sheet.add("scope", token.scope)
        sheet.add("sessions", token.sessions?.joined(separator: ", ") ?? "all")
        sheet.add("quotas", quotas(token.quotas))
        sheet.add("expires", token.expiresAt.map(DisplayFormat.time) ?? "never")
        sheet.add("old secret", token.formerTokenUntil.map { "accepted until \(DisplayFormat.time($0))" })
        sheet.add("secret", token.token)
        try console.out.write(sheet.text(on: console.outTerminal))
        if token.token != nil { console.say("Keep the secret: it is not shown again.") }
    }

    private static func quotas(_ quotas: TokenDocument.Quotas) -> String {
        [
            quotas.outstandingJobs.map { DisplayFormat.count($0, "outstanding job") },
            quotas.bytesPerDay.map { "\(DisplayFormat.bytes($0)) a day" },
            quotas.concurrentTransfers.map { "\(DisplayFormat.count($0, "transfer")) at once" },
            quotas.requestsPerSecond.map { "\(DisplayFormat.count($0, "request")) a second" },
        ].compactMap(\.self).joined(separator: ", ")
    }
}
