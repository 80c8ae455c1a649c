import GRDB
import PostgresClient

/// The values of a statement: in the order of its `?`, or by the names of its `:name`.
struct SQLArguments: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// nil is NULL.
    typealias Value = (any SQLValue)?

    private(set) var positional: [Value] = []
    private(set) var named: [(name: String, value: Value)] = []

    init(_ values: [Value]) { positional = values }
    init(_ values: [some SQLValue]) { positional = values }
    init(arrayLiteral values: Value...) { positional = values }
    init(dictionaryLiteral values: (String, Value)...) { named = values.map { (name: $0, value: $1) } }

    static func + (first: SQLArguments, second: SQLArguments) -> SQLArguments {
        var all = first
        all += second
        return all
    }

    static func += (first: inout SQLArguments, second: SQLArguments) {
        first.positional += second.positional
        first.named += second.named
    }

    mutating func set(_ name: String, _ value: Value) { named.append((name, value)) }

    var sqlite: StatementArguments {
        if named.isEmpty { return StatementArguments(positional.lazy.map { $0 as (any DatabaseValueConvertible)? }) }
        return StatementArguments(named.lazy.map { ($0.name, $0.value as (any DatabaseValueConvertible)?) })
    }

    /// The values in the order in which PostgreSQL gets them.
    func postgres(_ parameters: [PostgresDialect.Parameter]) -> [PostgresValue] {
        let named = Dictionary(named.map { ($0.name, $0.value) }) { $1 }
        return parameters.map { parameter in
            switch parameter {
            case .position(let position):
                precondition(position < positional.count, "the statement has more parameters than values")
                return .inferred(positional[position]?.literal)
            case .name(let name):
                guard let value = named[name] else { preconditionFailure("the statement has no value for \(name)") }
                return .inferred(value?.literal)
            }
        }
    }
}
