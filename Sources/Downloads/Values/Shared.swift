/// A large value that its copies share until one of them is changed.
///
/// A job is copied at each step of the writer: into a version, a cache, an outcome. Its specification does not change
/// meanwhile, and has some twenty references that each copy would retain.
@propertyWrapper
public struct Shared<Value: Sendable>: Sendable {
    /// Its value changes only while there is one reference to it, so copies may be read on other threads.
    private final class Storage: @unchecked Sendable {
        var value: Value
        init(_ value: Value) { self.value = value }
    }

    private var storage: Storage

    public init(wrappedValue: Value) { storage = Storage(wrappedValue) }

    public var wrappedValue: Value {
        _read { yield storage.value }
        _modify {
            if !isKnownUniquelyReferenced(&storage) { storage = Storage(storage.value) }
            yield &storage.value
        }
    }
}

extension Shared: Equatable where Value: Equatable {
    public static func == (first: Shared, second: Shared) -> Bool {
        first.storage === second.storage || first.storage.value == second.storage.value
    }
}
