/// The places at which a file can be requested.
enum Place: String, CaseIterable, Sendable { case home, moved, mirror, mirrorMoved }

/// A file at its origin: its versions over time, and how each request is answered. Requests are counted from 1, over
/// all places.
struct FilePlan: Sendable {
    var name: String
    var validation: Validation
    var versions: [FileVersion]
    /// The requests at which the next version starts.
    var changes: [Int]
    /// The mirror's content, in place of the versions.
    var mirror: Mirror
    var habits: Habits
    var faults: [Int: [Fault]]

    enum Mirror: Sendable {
        case same
        /// The same bytes under other validators.
        case otherTag(FileVersion)
        case other(FileVersion)
    }

    /// Permanent properties of the server.
    struct Habits: Sendable {
        var ignoresRanges = false
        var ignoresConditions = false
        /// Requests with `If-Range` get the whole file, as from some content delivery networks.
        var refusesConditions = false
        /// A 206 does not repeat the validators.
        var isTaciturn = false
        var framing = Framing.length
        /// The rate of each response; nil for the maximum.
        var bytesPerSecond: Int?

        enum Framing: String, Sendable { case length, chunked, untilClose }
    }

    func version(at request: Int, _ place: Place) -> FileVersion {
        switch (place, mirror) {
        case (.mirror, .otherTag(let version)), (.mirrorMoved, .otherTag(let version)), (.mirror, .other(let version)),
            (.mirrorMoved, .other(let version)):
            version
        case (_, _): versions[changes.count { $0 <= request }]
        }
    }

    var largestSize: Int { versions.map(\.size).max() ?? 0 }
}

// MARK: - Random plans

extension FilePlan {
    init(name: String, isPatient: Bool, _ choices: inout SeededChoices) {
        self.name = name
        validation = choices.chance(65) ? .strongTag : choices.pick(Validation.allCases)
        versions = []
        let size = Self.size(&choices)
        changes = (0..<choices.pick([0, 0, 0, 1, 1, 2])).map { _ in choices.number(2...8) }.sorted()
        for number in 0...changes.count {
            let next = choices.chance(70) ? size : Self.size(&choices)
            let label = validation.isStrong || choices.chance(50) ? number : 0
            versions.append(
                validation.version(name, number: label, place: Self.place(&choices), size: number == 0 ? size : next))
        }
        let other = Validation.strongTag.version(name + "-m", number: 0, place: versions[0].place, size: size)
        var foreign = other
        foreign.place = Self.place(&choices)
        mirror = choices.pick([.same, .same, .otherTag(other), .other(foreign)])
        habits = Habits(size: size, validation, &choices)
        faults = [:]
        let last = choices.pick([0, 2, 4, 8, 16])
        for request in 1...max(1, last) where last > 0 && choices.chance(65) {
            faults[request] = (0..<choices.pick([1, 1, 1, 2])).map { _ in
                .random(size: size, isPatient: isPatient, &choices)
            }
        }
    }

    /// Sizes of all kinds, most of them large enough for several connections.
    private static func size(_ choices: inout SeededChoices) -> Int {
        switch choices.number(1...20) {
        case 1: 0
        case 2: choices.number(1...2)
        case 3...4: choices.number(3...70_000)
        case 5...6: (1 << 16) * choices.number(1...6) + choices.number(-1...1)
        case 7...14: min((1 << 18) * choices.number(1...12) + choices.number(-2...2), FileVersion.largest)
        default: choices.number(70_000...FileVersion.largest)
        }
    }

    private static func place(_ choices: inout SeededChoices) -> Int {
        choices.number(0...FileVersion.largest - 1 << 17)
    }
}

extension FilePlan.Habits {
    init(size: Int, _ validation: Validation, _ choices: inout SeededChoices) {
        self.init()
        ignoresRanges = choices.chance(6)
        // A server that ignores conditions and sends no validators is indistinguishable from a correct one.
        refusesConditions = choices.chance(6)
        if validation.isStrong, choices.chance(20) { ignoresConditions = true } else { isTaciturn = choices.chance(15) }
        framing = choices.pick([.length, .length, .length, .length, .length, .chunked, .untilClose])
        if choices.chance(75) { bytesPerSecond = max(100_000, size * 10 / choices.number(2...15)) }
    }
}

extension FilePlan: CustomStringConvertible {
    var description: String {
        var lines = ["file \(name), told apart by \(validation.rawValue)"]
        for (index, version) in versions.enumerated() {
            let start = index == 0 ? 1 : changes[index - 1]
            let tags = "\(version.etag ?? "no tag"), \(version.lastModified ?? "no date")"
            lines.append("  from request \(start): \(version.size) bytes, \(tags)")
        }
        switch mirror {
        case .same: break
        case .otherTag(let version): lines.append("  the mirror has the first under \(version.etag ?? "no tag")")
        case .other(let version): lines.append("  the mirror has other bytes under \(version.etag ?? "no tag")")
        }
        var habits: [String] = []
        if self.habits.ignoresRanges { habits.append("no ranges") }
        if self.habits.ignoresConditions { habits.append("If-Range ignored") }
        if self.habits.refusesConditions { habits.append("everything where If-Range is said") }
        if self.habits.isTaciturn { habits.append("no validators in a 206") }
        if self.habits.framing != .length { habits.append("framing: \(self.habits.framing.rawValue)") }
        if let rate = self.habits.bytesPerSecond { habits.append("\(rate) bytes/s") }
        if !habits.isEmpty { lines.append("  always: " + habits.joined(separator: ", ")) }
        for (request, faults) in faults.sorted(by: { $0.key < $1.key }) {
            lines.append("  request \(request): " + faults.map(\.description).joined(separator: "; "))
        }
        return lines.joined(separator: "\n")
    }
}
