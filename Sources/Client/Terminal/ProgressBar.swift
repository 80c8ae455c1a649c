/// One running download as one line: its name, a bar, and the figures that fit.
struct ProgressBar: Sendable {
    private let job: JobDocument
    private let terminal: Terminal

    init(_ job: JobDocument, on terminal: Terminal) {
        self.job = job
        self.terminal = terminal
    }

    /// - Parameter columns: of the terminal. The last one stays free, as some terminals wrap when it is written to.
    func line(columns: Int) -> String {
        let room = max(20, columns - 1)
        let figures = figures(room: room)
        let rest = room - Columns.count(figures) - 2
        // A short one where the name would suffer: even that is seen sooner than figures are read.
        let barWidth = rest >= 40 ? min(30, rest / 2 - 4) : rest >= 24 ? 10 : 0
        let nameWidth = max(8, rest - (barWidth > 0 ? barWidth + 4 : 0))
        let name = Columns.fitted(terminal.printable(job.name), to: min(nameWidth, room))
        let bar = barWidth > 0 ? "  [\(bar(barWidth))]" : ""
        return Columns.fitted(name + bar + "  " + figures, to: room, filling: false)
    }

    private func bar(_ width: Int) -> String {
        let (full, empty) = terminal.isUnicode ? ("\u{2588}", "\u{2591}") : ("#", "-")
        guard let fraction = job.progress.fraction else { return String(repeating: empty, count: width) }
        let filled = Int(Double(width) * min(max(fraction, 0), 1))
        return String(repeating: full, count: filled) + String(repeating: empty, count: width - filled)
    }

    /// Aligned, so that the figures of several bars stand below each other; fewer where there is less room.
    private func figures(room: Int) -> String {
        let progress = job.progress
        let percent = Self.right(progress.fraction.map(DisplayFormat.percent) ?? "", 4)
        guard room >= 50 else { return percent }
        let size = progress.bytesExpected.map { " of " + Self.right(DisplayFormat.bytes($0), 8) } ?? ""
        let had =
            Self.right(DisplayFormat.bytes(progress.bytesReceived), 8) + Columns.fitted(size, to: room >= 72 ? 12 : 0)
        return [
            percent, room >= 72 ? had : Self.right(DisplayFormat.bytes(progress.bytesReceived), 8),
            Self.right(pace, 18),
        ]
        .joined(separator: " ")
    }

    /// Speed and time left, or why there is none.
    private var pace: String {
        guard job.state == "running" else { return JobDescription.state(job) }
        if let phase = job.phase, phase != "transferring", job.progress.bytesPerSecond ?? 0 == 0 { return phase }
        let rate = job.progress.bytesPerSecond.map(DisplayFormat.rate) ?? ""
        return [rate, job.progress.etaSeconds.map(DisplayFormat.duration) ?? ""].filter { !$0.isEmpty }
            .joined(separator: " ")
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - Columns.count(text))) + text
    }
}
