/// Lines of names and values.
struct Sheet: Sendable {
    private var lines: [(name: String, value: String)] = []

    /// Adds a line, unless the value is nil or empty.
    mutating func add(_ name: String, _ value: String?) {
        if let value, !value.isEmpty { lines.append((name, value)) }
    }

    func text(on terminal: Terminal) -> String {
        let width = lines.map(\.name.count).max() ?? 0
        return lines.map { line in
            let name = Columns.fitted(line.name, to: width)
            return "\(terminal.coloured(name, .faint))  \(terminal.printable(line.value))\n"
        }.joined()
    }
}

extension Sheet {
    init(_ job: JobDocument) {
        add("id", job.id)
        add("state", job.hasEnded ? JobDescription.ending(job) : JobDescription.state(job))
        add("cause", job.cause.map(\.message))
        add("next", JobDescription.advice(job))
        add("url", job.url)
        add("session", job.session)
        add("progress", Self.progress(job))
        add("file", job.file?.path)
        add("sha-256", job.file?.sha256)
        add("coding", job.receipt?.coding.map(Self.coding))
        add("priority", job.priority == "normal" ? nil : job.priority)
        add("tags", job.tags.joined(separator: ", "))
        add("attempts", job.attempts > 0 ? "\(job.attempts)" : nil)
        add("resumed", job.resume.flatMap(Self.resumption))
        add("challenge", job.challenge.map { [$0.scheme, $0.realm].compactMap(\.self).joined(separator: ", ") })
        add("created", DisplayFormat.time(job.createdAt))
        add("started", job.startedAt.map(DisplayFormat.time))
        add("finished", job.finishedAt.map(DisplayFormat.time))
        add("not before", job.notBefore.map(DisplayFormat.time))
        add("deadline", job.deadline.map(DisplayFormat.time))
    }

    private static func progress(_ job: JobDocument) -> String {
        let progress = job.progress
        var text = DisplayFormat.bytes(progress.bytesReceived)
        if let expected = progress.bytesExpected { text += " of " + DisplayFormat.bytes(expected) }
        if let fraction = progress.fraction { text += " (\(DisplayFormat.percent(fraction)))" }
        if let rate = progress.bytesPerSecond { text += ", " + DisplayFormat.rate(rate) }
        if let left = progress.etaSeconds { text += ", \(DisplayFormat.duration(left)) left" }
        return text
    }

    private static func coding(_ coding: JobDocument.Coding) -> String {
        guard coding.decoded else {
            return "\(coding.name), as the server sent it; add the job with --decode to decode it"
        }
        return "\(coding.name), decoded from \(DisplayFormat.bytes(coding.size))"
    }

    private static func resumption(_ resume: JobDocument.Resume) -> String? {
        switch resume.decision {
        case "resumed": "from \(DisplayFormat.bytes(resume.offset ?? 0))"
        case "restarted": "no, started from the beginning: \(resume.why ?? "unknown")"
        default: nil
        }
    }
}
