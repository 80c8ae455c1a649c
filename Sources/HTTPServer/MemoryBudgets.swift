import Base
import Synchronization

/// The memory that answers may take together, while they are made and until their clients have read them.
///
/// A client that does not read keeps its answer in memory for as long as its connection lasts. Without a common limit, a few
/// dozen such clients would exhaust the memory of the process. Each holder of answers, such as a token, has at most a part
/// of the budget, so that one of them does not use up what the others need.
public final class ResponseBudget: Sendable {
    private struct State {
        var held = 0
        var heldBy: [String: Int] = [:]
    }

    /// The bytes of each answer that the budget does not count. So small requests are served while large ones use all of it.
    public static let freeBytes = 16 << 10

    private let bytes, bytesOfHolder: Int
    private let state = Locked(State())

    public init(bytes: Int, bytesOfHolder: Int) {
        self.bytes = bytes
        self.bytesOfHolder = bytesOfHolder
    }

    public var held: Int { state.withLock(\.held) }

    /// The memory of one answer, which has no bytes yet.
    public func share(of holder: String) -> ResponseShare { ResponseShare(self, holder) }

    private func hasRoom(for more: Int, _ holder: String, _ state: State) -> Bool {
        state.held + more <= bytes && state.heldBy[holder, default: 0] + more <= bytesOfHolder
    }

    fileprivate static func counted(_ length: Int) -> Int { max(0, length - freeBytes) }

    /// - Parameter isForced: whether the bytes are counted even if there is no room for them.
    fileprivate func change(by more: Int, _ holder: String, isForced: Bool) -> Bool {
        state.withLock { state in
            guard more <= 0 || isForced || hasRoom(for: more, holder, state) else { return false }
            state.held += more
            let held = state.heldBy[holder, default: 0] + more
            state.heldBy[holder] = held > 0 ? held : nil
            return true
        }
    }
}

/// The memory of one answer. The share gives it back to the budget when the last reference to the share ends. So an object that
/// keeps the bytes of the answer must keep the share, too.
public final class ResponseShare: Sendable {
    private let budget: ResponseBudget
    private let holder: String
    private let counted = Locked(0)

    fileprivate init(_ budget: ResponseBudget, _ holder: String) {
        self.budget = budget
        self.holder = holder
    }

    /// Counts an answer of this length.
    ///
    /// - Returns: false if there is no room for it. Then nothing has changed.
    public func resize(to length: Int) -> Bool { change(to: length, isForced: false) }

    /// Counts an answer that must be sent, because the request was carried out, even if there is no room for it.
    public func force(to length: Int) { _ = change(to: length, isForced: true) }

    private func change(to length: Int, isForced: Bool) -> Bool {
        counted.withLock { counted in
            let new = ResponseBudget.counted(length)
            guard new != counted else { return true }
            guard budget.change(by: new - counted, holder, isForced: isForced) else { return false }
            counted = new
            return true
        }
    }

    deinit {
        let counted = counted.withLock(\.self)
        if counted > 0 { _ = budget.change(by: -counted, holder, isForced: true) }
    }
}

/// The memory that the request bodies of all connections may take together.
///
/// One body is limited by its admission. Without a common limit, a few dozen clients that send large bodies slowly would
/// exhaust the memory of the process.
final class BodyBudget: Sendable {
    /// The budget does not count the first `ResponseBudget.freeBytes` of each body.
    private let available: Atomic<Int>

    init(bytes: Int) { available = Atomic(bytes) }

    /// Whether a body of this length fits now. Another body may take the memory before this one arrives.
    func hasRoom(forBodyOf length: Int) -> Bool {
        length - ResponseBudget.freeBytes <= max(0, available.load(ordering: .relaxed))
    }

    /// Takes the bytes for a body that grows from one length to another.
    ///
    /// - Returns: false if the budget is exhausted. Nothing is taken then.
    func grow(from old: Int, to new: Int) -> Bool {
        let bytes = ResponseBudget.counted(new) - ResponseBudget.counted(old)
        guard bytes > 0 else { return true }
        guard available.subtract(bytes, ordering: .relaxed).newValue >= 0 else {
            available.add(bytes, ordering: .relaxed)
            return false
        }
        return true
    }

    func giveBack(bodyOf length: Int) {
        let bytes = ResponseBudget.counted(length)
        if bytes > 0 { available.add(bytes, ordering: .relaxed) }
    }
}
