import Locks

/// Live bars at the bottom of a terminal; what ends scrolls up above them, in one line, and stays.
final class BarReport: WatchReport {
    private struct State {
        var finished: [String] = []
        var frame = Frame()
        var isStale = false
        /// The screen is somebody else's for a while.
        var isAway = false
    }

    private let console: Console
    private let tracker: Locked<JobTracker>
    private let state = Locked(State())

    init(_ console: Console, of tracker: Locked<JobTracker>) {
        self.console = console
        self.tracker = tracker
    }

    func told(_ change: JobTracker.Change?) {
        let lines = change.map(lines(for:)) ?? []
        state.withLock { state in
            state.finished += lines
            state.isStale = true
        }
    }

    func remarked(_ sentence: String) {
        let line = console.errTerminal.printable(sentence)
        state.withLock { state in
            state.finished.append(line)
            state.isStale = true
        }
    }

    /// Eight pictures a second at most, and none while nothing moves. Runs until it is cancelled.
    func draw() async throws {
        while !Task.isCancelled {
            drawOnce()
            try await Task.sleep(for: .milliseconds(125))
        }
    }

    /// In the background, where another program has the terminal, only what is finished is told, in plain lines.
    func drawOnce() {
        let size = console.errTerminal.size
        let isInFront = console.errTerminal.isInFront
        let text = state.withLock { state -> String? in
            guard state.isStale, !state.isAway else { return nil }
            defer { (state.isStale, state.finished) = (false, []) }
            guard isInFront else { return state.frame.ending() + state.finished.map { $0 + "\n" }.joined() }
            let lines = tracker.withLock { Self.lines(of: $0, on: console.errTerminal, in: size) }
            return state.frame.picture(of: lines, below: state.finished, columns: size.columns)
        }
        if let text { console.draw(text) }
    }

    /// The last picture stays, and the cursor is back: at the end, or for as long as the program is stopped.
    func left() {
        let text = state.withLock { state in
            state.isAway = true
            return state.frame.ending()
        }
        console.draw(text)
    }

    /// What is on the screen is no longer known.
    func returned() { state.withLock { ($0.isAway, $0.isStale) = (false, true) } }

    func lines(for change: JobTracker.Change) -> [String] {
        let terminal = console.errTerminal
        switch change {
        case .moved(let job), .added(let job):
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

    /// Those that run first, as many as fit, then what waits, then a line that counts the rest.
    static func lines(of tracker: JobTracker, on terminal: Terminal, in size: (columns: Int, rows: Int)) -> [String] {
        let rest = tracker.jobs.filter { !tracker.isOver($0) }
        guard !rest.isEmpty else { return [] }
        let running = rest.filter { $0.state == "running" }
        let shown = (running + rest.filter { $0.state != "running" }).prefix(max(1, size.rows - 2))
        let bars = shown.map { ProgressBar($0, on: terminal).line(columns: size.columns) }
        guard tracker.jobs.count > 1 else { return bars }
        let parts = summary(of: tracker, rest, running: running, hidden: rest.count - shown.count)
        return bars + [Self.joined(parts, columns: max(20, size.columns - 1))]
    }

    /// As many as there is room for, the first in any case.
    private static func joined(_ parts: [String], columns: Int) -> String {
        var line = Columns.fitted(parts[0], to: columns, filling: false)
        for part in parts.dropFirst() where Columns.count(line) + Columns.count(part) + 2 <= columns {
            line += "; " + part
        }
        return line
    }

    /// The most important first.
    private static func summary(
        of tracker: JobTracker, _ rest: [JobDocument], running: [JobDocument], hidden: Int
    ) -> [String] {
        let over = tracker.jobs.filter(tracker.isOver)
        let failed = over.count { !$0.hasSucceeded }
        let rate = running.reduce(0) { $0 + ($1.progress.bytesPerSecond ?? 0) }
        var parts = ["\(over.count) of \(tracker.jobs.count) done"]
        if failed > 0 { parts.append("\(failed) not succeeded") }
        parts.append("\(running.count) running, \(rest.count - running.count) to come")
        if rate > 0 { parts.append(DisplayFormat.rate(rate)) }
        if hidden > 0 { parts.append("\(hidden) not shown") }
        return parts
    }
}
