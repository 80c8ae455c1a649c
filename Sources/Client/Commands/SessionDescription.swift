import ArgumentParser
import Foundation

/// Formats a session for the terminal.
enum SessionDescription {
    static func counts(_ session: SessionDocument) -> String {
        let states = JobStateArgument.allCases.map(\.rawValue)
        let counts = states.compactMap { state in
            session.counts[state].flatMap { $0 > 0 ? "\($0) \(state)" : nil }
        }
        return counts.isEmpty ? "no jobs" : counts.joined(separator: ", ")
    }

    static func sheet(_ session: SessionDocument) -> Sheet {
        var sheet = Sheet()
        sheet.add("session", session.id)
        sheet.add("state", session.state)
        sheet.add("jobs", counts(session))
        sheet.add(
            "batch", "\(session.batch)" + (session.finishDueAt.map { ", finishes at \(DisplayFormat.time($0))" } ?? ""))
        sheet.add("last event", "\(session.lastEvent)")
        // Webhooks acknowledge without moving this number.
        if session.acknowledgedThrough > 0 {
            sheet.add("acknowledged", "with session acknowledge, through event \(session.acknowledgedThrough)")
        }
        sheet.add("acknowledgement", session.configuration.acknowledgement)
        sheet.add("unacknowledged since", session.unacknowledgedSince.map(DisplayFormat.time))
        sheet.add("directory", session.configuration.directory)
        sheet.add("priority", session.configuration.priority)
        sheet.add("jobs at once", session.configuration.maxConcurrentJobs.map { "\($0)" })
        sheet.add("rate limit", session.configuration.rateLimitBytesPerSecond.map { DisplayFormat.rate(Double($0)) })
        sheet.add("total size", session.configuration.maxTotalSize.map { "at most \(DisplayFormat.bytes($0))" })
        sheet.add("connections", session.configuration.connections.map { "\($0)" })
        sheet.add("created", DisplayFormat.time(session.createdAt))
        return sheet
    }

    static func show(_ answer: Answer, _ console: Console) throws {
        if console.isJSON { return try console.print(JSONText(answer.body)) }
        try console.out.write(sheet(answer.document(SessionDocument.self)).text(on: console.outTerminal))
    }
}
