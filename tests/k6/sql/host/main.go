// The host runs one probe script: an engine for JavaScript, Go's database/sql and the three Go drivers.
//
// It stands in for k6 with xk6-sql: the module's shape is written after its documentation, the answers come
// from the engine and the drivers themselves. `host SCRIPT.js` prints what the script logs; variables come from
// the environment.
package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	_ "github.com/go-sql-driver/mysql"
	"github.com/grafana/sobek"
	_ "github.com/lib/pq"
	_ "github.com/mattn/go-sqlite3"
)

type database struct{ pool *sql.DB }

func (d *database) Query(query string, args ...any) ([]map[string]any, error) {
	return d.rows(context.Background(), query, args)
}

func (d *database) QueryWithTimeout(timeout string, query string, args ...any) ([]map[string]any, error) {
	limit, err := time.ParseDuration(timeout)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return d.rows(ctx, query, args)
}

func (d *database) Exec(query string, args ...any) (sql.Result, error) {
	return d.pool.ExecContext(context.Background(), query, args...)
}

func (d *database) ExecWithTimeout(timeout string, query string, args ...any) (sql.Result, error) {
	limit, err := time.ParseDuration(timeout)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return d.pool.ExecContext(ctx, query, args...)
}

func (d *database) Close() error { return d.pool.Close() }

func (d *database) rows(ctx context.Context, query string, args []any) ([]map[string]any, error) {
	cursor, err := d.pool.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer cursor.Close()
	names, err := cursor.Columns()
	if err != nil {
		return nil, err
	}
	found := make([]map[string]any, 0)
	cells := make([]any, len(names))
	places := make([]any, len(names))
	for at := range cells {
		places[at] = &cells[at]
	}
	for cursor.Next() {
		if err := cursor.Scan(places...); err != nil {
			return nil, err
		}
		row := make(map[string]any, len(names))
		for at, name := range names {
			row[name] = cells[at]
		}
		found = append(found, row)
	}
	return found, nil
}

// The driver that a symbol names.
var symbols = map[*sobek.Symbol]string{}

// go-sql-driver panics on some wrong options, which ends k6: here it is an error that says so.
func openPool(name, dsn string) (pool *sql.DB, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("the driver panics: %v", cause)
		}
	}()
	return sql.Open(name, dsn)
}

func open(vm *sobek.Runtime) func(sobek.FunctionCall) sobek.Value {
	return func(call sobek.FunctionCall) sobek.Value {
		fail := func(err error) { panic(vm.NewGoError(err)) }
		driver := call.Argument(0)
		if object, ok := driver.(*sobek.Object); ok {
			if valueOf, ok := sobek.AssertFunction(object.Get("valueOf")); ok {
				inner, err := valueOf(object)
				if err == nil {
					driver = inner
				}
			}
		}
		symbol, ok := driver.(*sobek.Symbol)
		if !ok {
			fail(errors.New("unsupported database: invalid driver parameter type"))
		}
		name, ok := symbols[symbol]
		if !ok {
			fail(errors.New("unsupported database: "))
		}
		pool, err := openPool(name, call.Argument(1).String())
		if err != nil {
			fail(err)
		}
		if options, ok := call.Argument(2).(*sobek.Object); ok {
			number := func(key string, set func(int)) {
				if value := options.Get(key); value != nil && !sobek.IsNull(value) && !sobek.IsUndefined(value) {
					set(int(value.ToInteger()))
				}
			}
			span := func(key string, set func(time.Duration)) {
				if value := options.Get(key); value != nil && !sobek.IsNull(value) && !sobek.IsUndefined(value) {
					limit, err := time.ParseDuration(value.String())
					if err != nil {
						fail(err)
					}
					set(limit)
				}
			}
			number("max_open_conns", pool.SetMaxOpenConns)
			number("max_idle_conns", pool.SetMaxIdleConns)
			span("conn_max_lifetime", pool.SetConnMaxLifetime)
			span("conn_max_idle_time", pool.SetConnMaxIdleTime)
		}
		return vm.ToValue(&database{pool})
	}
}

var rules = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`(?m)^import (\w+) from ('[^']+');`), `const $1 = require($2).default;`},
	{regexp.MustCompile(`(?m)^import (\{[^}]*\}) from ('[^']+');`), `const $1 = require($2);`},
	{regexp.MustCompile(`(?m)^export default function`), `exports.default = function`},
	{regexp.MustCompile(`(?m)^export function (\w+)`), `exports.$1 = $1; function $1`},
	{regexp.MustCompile(`(?m)^export const (\w+) =`), `const $1 = exports.$1 =`},
}

func main() {
	vm := sobek.New()
	vm.SetFieldNameMapper(sobek.UncapFieldNameMapper())
	environment := vm.NewObject()
	for _, pair := range os.Environ() {
		name, value, _ := strings.Cut(pair, "=")
		_ = environment.Set(name, value)
	}
	_ = vm.Set("__ENV", environment)
	_ = vm.Set("__VU", 1)
	console := vm.NewObject()
	_ = console.Set("log", func(text string) { fmt.Println(text) })
	_ = vm.Set("console", console)

	modules := map[string]sobek.Value{}
	for _, name := range []string{"mysql", "postgres", "sqlite3"} {
		symbol := sobek.NewSymbol(name)
		symbols[symbol] = name
		module := vm.NewObject()
		_ = module.Set("default", symbol)
		modules["k6/x/sql/driver/"+name] = module
	}
	module := vm.NewObject()
	_ = module.Set("open", open(vm))
	_ = module.Set("default", module)
	modules["k6/x/sql"] = module
	k6 := vm.NewObject()
	_ = k6.Set("sleep", func(seconds float64) { time.Sleep(time.Duration(seconds * float64(time.Second))) })
	modules["k6"] = k6

	var load func(path string) sobek.Value
	load = func(path string) sobek.Value {
		if loaded, ok := modules[path]; ok {
			return loaded
		}
		text, err := os.ReadFile(path)
		if err != nil {
			panic(vm.NewGoError(err))
		}
		source := string(text)
		for _, rule := range rules {
			source = rule.from.ReplaceAllString(source, rule.to)
		}
		wrapped, err := vm.RunScript(path, "(function (exports, require) {"+source+"\n})")
		if err != nil {
			panic(err)
		}
		run, _ := sobek.AssertFunction(wrapped)
		exports := vm.NewObject()
		modules[path] = exports
		require := func(name string) sobek.Value {
			if strings.HasPrefix(name, ".") {
				return load(filepath.Join(filepath.Dir(path), name))
			}
			if loaded, ok := modules[name]; ok {
				return loaded
			}
			panic(vm.NewGoError(fmt.Errorf("unknown module: %q", name)))
		}
		if _, err := run(sobek.Undefined(), exports, vm.ToValue(require)); err != nil {
			panic(err)
		}
		return exports
	}
	exports := load(os.Args[1]).(*sobek.Object)
	if run, ok := sobek.AssertFunction(exports.Get("default")); ok {
		if _, err := run(sobek.Undefined()); err != nil {
			fmt.Println("uncaught:", err)
			os.Exit(1)
		}
	}
}
