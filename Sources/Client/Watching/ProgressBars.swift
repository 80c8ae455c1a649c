import Base

/// Live progress bars at the bottom of a terminal. The line of an ended download scrolls up above them and stays.
final class BarReport: WatchReport {
    private struct State {
        var finished: [String] = []
        var frame = Frame()
        var isStale = false
        /// The program is stopped, or the watch has ended, so nothing is drawn.
        var isSuspended = false
    }

    private let console: Console
    private let tracker: Locked<JobTracker>
    private let state = Locked(State())

    init(_ console: Console, of tracker: Locked<JobTracker>) {
        self.console = console
        self.tracker = tracker
    }

    func jobChanged(_ change: JobTracker.Change?) { finish(change.map(lines(for:)) ?? []) }

    func serviceChanged(_ sentence: String) { finish([console.errTerminal.printable(sentence)]) }

    private func finish(_ lines: [String]) {
        state.withLock { state in
            state.finished += lines
            state.isStale = true
        }
    }

    /// Draws at most eight pictures a second, and none without changes. Runs until it is cancelled.
    func draw() async throws {
        while !Task.isCancelled {
            drawOnce()
            try await Task.sleep(for: .milliseconds(125))
        }
    }

    /// Draws the present state. In the background, where another program uses the terminal, it prints only finished lines.
    func drawOnce() {
        let size = console.errTerminal.size
        let isInFront = console.errTerminal.isInFront
        let text = state.withLock { state -> String? in
            guard state.isStale, !state.isSuspended else { return nil }
            defer {
                state.isStale = false
                state.finished = []
            }
            guard isInFront else { return state.frame.ending() + state.finished.map { $0 + "\n" }.joined() }
            let lines = tracker.withLock { Self.lines(of: $0, on: console.errTerminal, in: size) }
            return state.frame.picture(of: lines, below: state.finished, columns: size.columns)
        }
        if let text { console.draw(text) }
    }

    /// Stops drawing, at the end or while the program is stopped. The last picture stays, and the cursor is shown again.
    func suspend() {
        let text = state.withLock { state in
            state.isSuspended = true
            return state.frame.ending()
        }
        console.draw(text)
    }

    /// Starts drawing again, without knowing the contents of the screen.
    func resume() {
        state.withLock { state in
            state.isSuspended = false
            state.isStale = true
        }
    }

    func lines(for change: JobTracker.Change) -> [String] {
        let terminal = console.errTerminal
        switch change {
        case .stateChanged(let job), .added(let job):
            guard job.hasEnded || job.state == "waiting" || job.state == "paused" else { return [] }
            let line = terminal.colouredState(terminal.printable(JobDescription.line(job)), job.state)
            let head = terminal.coloured(terminal.printable(job.id), .faint) + " " + line
            return [head] + (JobDescription.adviceOnTheWay(job).map { ["  " + terminal.printable($0)] } ?? [])
        case .remarked(let job, let remark):
            return [terminal.coloured(terminal.printable("\(job.id) \(remark)"), .faint)]
        case .deleted(let job):
            return [terminal.printable("\(job.id) was deleted: \(job.name)")]
        }
    }

    /// The running jobs first, then the others, as many as fit, then a line with a summary.
    static func lines(of tracker: JobTracker, on terminal: Terminal, in size: (columns: Int, rows: Int)) -> [String] {
        let rest = tracker.jobs.filter { !tracker.hasEnded($0) }
        guard !rest.isEmpty else { return [] }
        let running = rest.filter { $0.state == "running" }
        let shown = (running + rest.filter { $0.state != "running" }).prefix(max(1, size.rows - 2))
        let bars = shown.map { ProgressBar($0, on: terminal).line(columns: size.columns) }
        guard tracker.jobs.count > 1 else { return bars }
        let parts = summary(of: tracker, rest, running: running, hidden: rest.count - shown.count)
        return bars + [Self.joined(parts, columns: max(20, size.columns - 1))]
    }

    /// Joins as many parts as fit, at least the first.
    private static func joined(_ parts: [String], columns: Int) -> String {
        var line = Columns.fitted(parts[0], to: columns, filling: false)
        for part in parts.dropFirst() where Columns.count(line) + Columns.count(part) + 2 <= columns {
            line += "; " + part
        }
        return line
    }

    /// The parts of the summary, the most important first.
    private static func summary(
        of tracker: JobTracker, _ rest: [JobDocument], running: [JobDocument], hidden: Int
    ) -> [String] {
        let ended = tracker.jobs.filter(tracker.hasEnded)
        let failed = ended.count { !$0.hasSucceeded }
        let rate = running.reduce(0) { $0 + ($1.progress.bytesPerSecond ?? 0) }
        var parts = ["\(ended.count) of \(tracker.jobs.count) done"]
        if failed > 0 { parts.append("\(failed) not succeeded") }
        parts.append("\(running.count) running, \(rest.count - running.count) to come")
        if rate > 0 { parts.append(DisplayFormat.rate(rate)) }
        if hidden > 0 { parts.append("\(hidden) not shown") }
        return parts
    }
}

/// A running download as one line: its name, a bar, and as many figures as fit.
struct ProgressBar: Sendable {
    private let job: JobDocument
    private let terminal: Terminal

    init(_ job: JobDocument, on terminal: Terminal) {
        self.job = job
        self.terminal = terminal
    }

    /// - Parameter columns: the width of the terminal. The last column stays free, because some terminals wrap after it.
    func line(columns: Int) -> String {
        let room = max(20, columns - 1)
        let figures = figures(room: room)
        let rest = room - Columns.count(figures) - 2
        // If there is little space, the bar is short, so that the name is still readable.
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

    /// The figures, aligned between several bars. A narrow terminal shows fewer of them.
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

    /// The speed and the time left, or the state of a job that does not transfer.
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

/// The lines at the bottom of a terminal that are redrawn in place. Finished lines scroll up above them and stay. To avoid
/// flicker, each picture is one write, and no line is blanked before it is redrawn.
struct Frame: Sendable {
    /// The widths of the lines on the screen.
    private var drawn: [Int] = []
    private var hidesCursor = false

    init() {}

    /// The text to write for the next picture.
    ///
    /// - Parameters:
    ///   - lines: must be narrower than the terminal, so that none wraps.
    ///   - finished: lines that stay above the picture permanently.
    mutating func picture(of lines: [String], below finished: [String], columns: Int) -> String {
        var text = (hidesCursor ? "" : Self.cursorHidden) + toTop(columns)
        hidesCursor = true
        for line in finished + lines { text += line + Self.restErased + "\n" }
        text += Self.belowErased
        drawn = lines.map { Columns.count(Self.withoutColours($0)) }
        return text
    }

    /// The text to write at the end: the last lines stay, and the cursor is shown again.
    mutating func ending() -> String {
        defer {
            drawn = []
            hidesCursor = false
        }
        return hidesCursor ? Self.cursorShown : ""
    }

    /// Moves the cursor to the first line. A terminal that became narrower has wrapped the lines, so they take more rows.
    private func toTop(_ columns: Int) -> String {
        guard !drawn.isEmpty else { return "" }
        let rows = drawn.reduce(0) { $0 + max(1, ($1 + columns - 1) / max(1, columns)) }
        return "\r\u{1B}[\(rows)A"
    }

    // ECMA-48, sections 8.3.41 (EL) and 8.3.39 (ED); the cursor is DEC's mode 25, which every current terminal supports.
    private static let restErased = "\u{1B}[K"
    private static let belowErased = "\u{1B}[J"
    private static let cursorHidden = "\u{1B}[?25l"
    static let cursorShown = "\u{1B}[?25h"

    static func withoutColours(_ text: String) -> String {
        text.contains("\u{1B}") ? text.replacing(/\u{1B}\[[0-9;]*m/, with: "") : text
    }
}
