/// One complete round: its jobs, the actions of their origins and clients, and the kills of the service. Everything
/// follows from the seed.
struct RoundPlan: Sendable {
    var seed: UInt64
    var jobs: [JobPlan]
    var interruptions: [ServiceInterruption]

    init(seed: UInt64) {
        var choices = SeededChoices(seed: seed)
        self.seed = seed
        jobs = (0..<choices.number(1...4)).map { JobPlan(name: "\(seed)-\($0)", &choices) }
        interruptions = (0..<choices.pick([0, 0, 1, 1, 2])).map { _ in .random(&choices) }
    }
}

/// A job with its own file, and the actions of its client.
struct JobPlan: Sendable {
    var file: FilePlan
    var connections: Int
    var place: Place
    /// Whether the other URL is given too.
    var hasMirror: Bool
    var maxAttempts: Int
    /// The seconds of silence that the job tolerates.
    var requestSeconds: Double
    var bytesPerSecond: Int?
    var actions: [ClientAction]
    /// Whether a failed or cancelled job is retried at the end, when the origin behaves: it must succeed then.
    var isRetriedAtLast: Bool
    /// Whether equal bytes are enough to resume. No two versions have equal bytes.
    var isByEvidence: Bool

    init(name: String, _ choices: inout SeededChoices) {
        let isPatient = choices.chance(6)
        file = FilePlan(name: name, isPatient: isPatient, &choices)
        connections = choices.chance(30) ? 1 : choices.number(2...16)
        place = choices.chance(85) ? .home : choices.pick(Place.allCases)
        hasMirror = choices.chance(25)
        // A server that refuses every further range may need another attempt without ranges.
        maxAttempts = choices.number((file.habits.refusesConditions ? 2 : 1)...5)
        requestSeconds = isPatient ? 8 : 1
        bytesPerSecond = choices.chance(10) ? max(200_000, file.largestSize) : nil
        actions = []
        for _ in 0..<choices.pick([0, 0, 1, 1, 2, 3]) {
            actions += ClientAction.random(size: file.largestSize, &choices)
        }
        isRetriedAtLast = choices.chance(70)
        isByEvidence = choices.chance(40)
    }
}

extension RoundPlan: CustomStringConvertible {
    var description: String {
        (["round of seed \(seed)"] + jobs.map(\.description) + interruptions.map(\.description)).joined(separator: "\n")
    }
}

extension JobPlan: CustomStringConvertible {
    var description: String {
        var lines = [
            "job at \(place)\(hasMirror ? " and a mirror" : ""), \(connections) connections, \(maxAttempts) attempts, "
                + "\(requestSeconds) s of patience" + (bytesPerSecond.map { ", \($0) bytes/s" } ?? "")
        ]
        lines += file.description.split(separator: "\n").map { "  \($0)" }
        lines += actions.map { "  \($0)" }
        if isRetriedAtLast { lines.append("  retried at last, if it has not succeeded") }
        return lines.joined(separator: "\n")
    }
}
