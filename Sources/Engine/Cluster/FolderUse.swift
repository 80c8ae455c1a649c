import Downloads
import Glibc

/// Which files in the downloads folder this service may use, if several services share its database.
///
/// A part belongs to the node that made it (`PartID.owner`). Only that node writes to it and cuts it. An open descriptor
/// cannot be taken away from a service that lost its jobs without noticing, so other nodes never write to the file of a part:
/// they continue in a copy.
public struct FolderUse: Sendable {
    /// This service; nil in a database of its own.
    let node: Node?
    let sharing: FolderSharing
    /// See `Store.firstNode`.
    private let firstNode: @Sendable () -> Int64?
    /// Whether this service may still act for its jobs. If not, it changes no name and cuts no file.
    let holdsLease: @Sendable () -> Bool

    /// - Parameter firstNode: see `Store.firstNode`.
    public init(
        by node: Node?, sharing: FolderSharing, holdsLease: @escaping @Sendable () -> Bool,
        firstNode: @escaping @Sendable () -> Int64? = { nil }
    ) {
        self.node = node
        self.sharing = sharing
        self.firstNode = firstNode
        self.holdsLease = holdsLease
    }

    /// The use by a service in a database of its own.
    public static let alone = FolderUse(by: nil, sharing: .local) { true }

    /// Who may write to the file of a stored part.
    enum Holder: Equatable {
        /// In this folder, for this service to write to.
        case own
        /// In this folder, and another service may still write to it.
        case foreign
        /// In the folder of another service.
        case elsewhere
    }

    /// Where the file of a part is. The file of an earlier run of this service is its own: the lock of the data folder shows
    /// that the earlier run has ended.
    func holder(of part: PartID) -> Holder {
        guard let node else { return .own }
        if part.owner?.number == node.number { return .own }
        return switch sharing {
        case .local: part.owner == nil && firstNode() == node.number ? .own : .elsewhere
        case .shared: .foreign
        }
    }

    /// Whether this service removes the file of the part if no job needs it.
    func sweeps(_ part: PartID) -> Bool {
        switch (node?.number, part.owner?.number) {
        case (nil, nil): true
        case (nil, _?): false
        case (let own?, nil): sharing == .local && own == firstNode()
        case (let own?, let owner?): own == owner
        }
    }

    /// Whether the part is in a shared folder, and the node that made it was forgotten. No job can adopt such a part
    /// later.
    ///
    /// - Parameter owners: the numbers of all nodes, read after the part was found. A number is given only once.
    func isAbandoned(_ part: PartID, owners: Set<Int64>) -> Bool {
        guard node != nil, sharing == .shared, let owner = part.owner?.number else { return false }
        return !owners.isEmpty && !owners.contains(owner)
    }

    /// Whether other services have files in folders of their own.
    var hasOwnFolder: Bool { node != nil && sharing == .local }

    /// Whether other services of the database use the same folder.
    var isSharedFolder: Bool { node != nil && sharing == .shared }

    /// Whether the finished file of a job is in this folder, or may be: if it is not known which node has it, each node looks.
    public func hasFile(of job: Job) -> Bool {
        // Every service reaches the objects of a bucket.
        guard hasOwnFolder, job.state.finish?.file.object == nil, let owner = owner(of: job) else { return true }
        return owner == node?.number
    }

    /// The number of the node that has the finished file of a job; nil: it is not known.
    public func owner(of job: Job) -> Int64? { job.node ?? firstNode() }

    /// A name for a file that only this service has in the folder.
    func ownName(_ name: String) -> String { node.map { "\(name)-\($0.number)" } ?? name }
}

extension DiskError {
    /// The code of a change that this service may not make, because it has lost its lease. No call on files returns it.
    static let leaseLost = ECANCELED
    static let lostLease = "this node has lost its lease, and others may run its jobs"

    /// Whether this service has lost its lease. Nothing has changed then.
    var isLeaseLost: Bool { code == Self.leaseLost }
}

/// Whether the services that share a database have one downloads folder or several.
public enum FolderSharing: String, Sendable, CaseIterable {
    /// Each service has a folder of its own: a job that moves to another service begins again from 0.
    case local
    /// All services use the same folder: a job that moves to another service keeps its bytes.
    case shared
}
